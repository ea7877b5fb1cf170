import pytest
from django.contrib.auth.models import User


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_superuser("curator")


@pytest.fixture
def reader(db: None) -> User:
    return User.objects.create_user("reader")
