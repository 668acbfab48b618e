"""Dataclasses read from JSON strictly: unknown keys, missing keys and wrong types are refused by name."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def read_config(cls: type[T], values: object, where: str) -> T:
    """An instance of the dataclass `cls` from parsed JSON. Raises ValueError naming the key and what was expected.

    Understands str, int, float, bool, None, tuple[X, ...], fixed tuples, dict[str, X], unions of these,
    nested dataclasses, and object (anything). `where` names the place in messages.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"{where}: expected an object, got {_kind(values)}")
    known = {f.name: f for f in fields(cls) if f.init}  # type: ignore[arg-type]
    if unknown := sorted(set(values) - set(known)):
        raise ValueError(f"{where}: unknown keys {unknown}; known are {sorted(known)}")
    if missing := sorted(name for name, f in known.items() if _required(f) and name not in values):
        raise ValueError(f"{where}: missing keys {missing}")
    hints = get_type_hints(cls)
    return cls(**{name: _convert(hints[name], value, f"{where}.{name}") for name, value in values.items()})


def _required(f: Field[Any]) -> bool:
    return f.default is MISSING and f.default_factory is MISSING


def _convert(hint: Any, value: object, where: str) -> Any:
    origin = get_origin(hint)
    if is_dataclass(hint):
        return read_config(hint, value, where)  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        return _convert_union(hint, value, where)
    if origin is tuple:
        return _convert_tuple(get_args(hint), value, where)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ValueError(f"{where}: expected an object, got {_kind(value)}")
        return {str(k): _convert(get_args(hint)[1], v, f"{where}.{k}") for k, v in value.items()}
    return _convert_plain(hint, value, where)


def _convert_plain(hint: Any, value: object, where: str) -> Any:
    if hint is object or hint is Any:
        return value
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ValueError(f"{where}: expected {hint.__name__}, got {_kind(value)}")
    return value


def _convert_union(hint: Any, value: object, where: str) -> Any:
    for option in get_args(hint):
        try:
            return _convert(option, value, where)
        except ValueError:
            continue
    raise ValueError(f"{where}: expected {hint}, got {_kind(value)}")


def _convert_tuple(args: tuple[Any, ...], value: object, where: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{where}: expected a list, got {_kind(value)}")
    hints = [args[0]] * len(value) if args[-1] is Ellipsis else list(args)
    if len(hints) != len(value):
        raise ValueError(f"{where}: expected {len(hints)} values, got {len(value)}")
    return tuple(_convert(h, v, f"{where}[{i}]") for i, (h, v) in enumerate(zip(hints, value, strict=True)))


def _kind(value: object) -> str:
    return f"{type(value).__name__} {str(value)[:40]!r}"
