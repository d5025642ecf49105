"""No part of a password is ever shown with an address."""

import pytest

from snell.store import display_address


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://db.example/team", "postgresql://db.example/team"),
        ("postgresql://ann@db.example:5433/team?sslmode=verify-full", "postgresql://db.example:5433/team"),
        ("postgresql://ann:s3cret@db.example/team", "postgresql://db.example/team"),
        ("postgresql://ann:s3/cr?et#@db.example/team", "postgresql://db.example/team"),
        ("postgresql://ann:s3@cret@db.example/team", "postgresql://db.example/team"),
        ("postgresql://db.example/team?password=s3cr@et", "PostgreSQL"),
        ("postgresql://db.example/team?PassWord=s3cret", "PostgreSQL"),
        ("host=db.example user=ann dbname=team", "host=db.example user=ann dbname=team"),
        ("host=db.example password=s3cret", "PostgreSQL"),
        ("host=db.example PASSWORD = 's3cret host=x'", "PostgreSQL"),
        ("sslpassword=s3cret", "PostgreSQL"),
        ("options=s3cret", "PostgreSQL"),
        ("s3cret", "PostgreSQL"),
        ("", "PostgreSQL"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert display_address(address) == shown
