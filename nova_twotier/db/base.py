"""What the tables have in common."""

from typing import Any

from sqlalchemy import JSON, Double
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    # MySQL's plain FLOAT has 7 digits: not enough for a time.
    type_annotation_map = {
        dict[str, Any]: JSON,
        list[float]: JSON,
        list[float | None]: JSON,
        list[str]: JSON,
        float: Double,
    }
    #: Names differ by case and accents, as they do in the other databases.
    __table_args__: Any = {
        "mysql_engine": "InnoDB",
        "mysql_charset": "utf8mb4",
        "mysql_collate": "utf8mb4_bin",
    }
