"""What a case is, and the registry that the modules of cases/ fill."""

from dataclasses import dataclass
from typing import Callable, Optional


class Failure(Exception):
    """Why a case failed, in words for a person; may span several lines."""


@dataclass(frozen=True)
class Case:
    name: str
    about: str
    body: Callable  # takes an Execution, drives the real program through it
    needs: tuple  # programs that must be installed
    proves: tuple  # base names of executables that must leave a proof record
    timeout: float  # seconds for one run of the body
    user: Optional[str] = None  # who runs it when we are root (a server may refuse root)
    own_malloc: tuple = ()  # executables that bring a malloc of their own and must keep it


CASES = []


def case(name, *, needs, proves, timeout=60, user=None, own_malloc=()):
    """Registers the decorated function as a case; its docstring is the `--list` text."""

    def register(body):
        if any(other.name == name for other in CASES):
            raise ValueError(f"two cases are named {name}")
        about = " ".join(body.__doc__.split())
        CASES.append(
            Case(name, about, body, tuple(needs), tuple(proves), timeout, user, tuple(own_malloc))
        )
        return body

    return register
