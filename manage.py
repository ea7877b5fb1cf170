#!/usr/bin/env python
"""Entry point for a checkout; the installed command is `memweb`."""

from memweb.cli import main

if __name__ == "__main__":
    main()
