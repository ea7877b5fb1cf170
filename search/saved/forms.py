"""What people send about saved searches. The rules for names are where searches are saved, written once."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class NameForm(forms.Form):
    name = forms.CharField(required=False, strip=False)


class SaveForm(NameForm):
    query = forms.CharField(required=False, strip=False)
    replace = forms.BooleanField(required=False)


def sent_values(form: forms.Form) -> dict[str, Any]:
    """Return what was sent; raises ValidationError with all that is wrong about it."""
    if not form.is_valid():
        raise ValidationError([error for errors in form.errors.as_data().values() for error in errors])
    return form.cleaned_data
