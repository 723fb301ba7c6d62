"""Copy errors of other libraries, without the secrets that they hold."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from itertools import islice
from typing import Any

from azureml_k8s._secrets._text import mask_text

_LONGEST_CHAIN = 10
_MOST_FRAMES = 60


def masked_copy(error: BaseException) -> BaseException:
    """Return an exception to chain in place of `error`: it reads alike, with secrets masked, and holds nothing of it.

    The copy has the type's name, the masked text as its only argument, the notes, the masked causes and contexts (ten
    at most), and a traceback of the same lines whose frames have no local variables. Neither its attributes nor its
    frames lead to the original, its request, or their headers. It is not an instance of the original type.
    """
    copy = _copy(error, [])
    del error  # this frame, too, can be reached from the copy, as the caller of those in its traceback
    for link in _links(copy):
        _clear_helpers(link.__traceback__)
    return copy


def _copy(error: BaseException, seen: list[BaseException]) -> BaseException:
    seen.append(error)
    copy = _type_like(type(error))(mask_text(_text_of(error)))
    for note in _notes_of(error):
        copy.add_note(mask_text(note))
    copy.__traceback__ = _bare_traceback(error.__traceback__)
    copy.__cause__ = _copy_link(error.__cause__, seen)
    copy.__context__ = _copy_link(error.__context__, seen)
    copy.__suppress_context__ = error.__suppress_context__
    return copy


def _copy_link(error: BaseException | None, seen: list[BaseException]) -> BaseException | None:
    if error is None or len(seen) >= _LONGEST_CHAIN or any(error is one for one in seen):
        return None
    return _copy(error, seen)


def _links(error: BaseException) -> Iterator[BaseException]:
    yield error
    for link in (error.__cause__, error.__context__):
        if link is not None:
            yield from _links(link)


def _clear_helpers(traceback: types.TracebackType | None) -> None:
    """Let go of the variables of this module's calls below `masked_copy`; they hold the original's traceback."""
    for one in _each(traceback):
        frame = one.tb_frame.f_back
        while frame is not None and frame.f_globals is globals() and frame.f_code is not masked_copy.__code__:
            frame.clear()
            frame = frame.f_back


class _Masked(Exception):
    """Base of the copies: pickle finds the original under a copy's name, and refuses the copy unless told how."""

    def __reduce__(self) -> tuple[Any, ...]:
        kind = type(self)
        return _restored, (kind.__name__, kind.__module__, kind.__qualname__, str(self)), vars(self) or None


def _type_like(original: type[BaseException]) -> type[_Masked]:
    return _named(original.__name__, original.__module__, original.__qualname__)


def _named(name: str, module: str, qualname: str) -> type[_Masked]:
    return type(name, (_Masked,), {"__module__": module, "__qualname__": qualname})


def _restored(name: str, module: str, qualname: str, text: str) -> _Masked:
    return _named(name, module, qualname)(text)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a foreign __str__ may do anything
        return f"<{type(error).__name__} without a readable text>"


def _notes_of(error: BaseException) -> list[str]:
    notes = getattr(error, "__notes__", None)
    return [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []


def _bare_traceback(traceback: types.TracebackType | None) -> types.TracebackType | None:
    bare: types.TracebackType | None = None
    for one in reversed(list(islice(_each(traceback), _MOST_FRAMES))):
        place = _place_like(one)
        if place is not None:
            bare = types.TracebackType(bare, place.tb_frame, place.tb_lasti, one.tb_lineno)
    return bare


def _each(traceback: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _place_like(original: types.TracebackType) -> types.TracebackType | None:
    """Return a traceback entry that shows the same file, line and function, from a frame that holds no variables.

    Python makes frames only by running code, so code that fails at that very position is compiled and run.
    """
    code = original.tb_frame.f_code
    names = original.tb_frame.f_globals
    namespace: dict[str, object] = {"__builtins__": {}}
    # These two let `linecache` find the source of a module that came out of a zip file.
    namespace.update((name, names[name]) for name in ("__name__", "__loader__") if name in names)
    try:
        exec(_failing_code(code, original), namespace)  # noqa: S102 (two nodes, built below)
    except NameError as error:
        place = error.__traceback__
        return place.tb_next if place else None
    return None


def _failing_code(code: types.CodeType, original: types.TracebackType) -> types.CodeType:
    line = original.tb_lineno or 1
    positions = next(islice(code.co_positions(), original.tb_lasti // 2, None), (None,) * 4)
    begin, end, left, right = positions if None not in positions else (line, line, 0, 0)
    where = {"lineno": begin or line, "end_lineno": end or line, "col_offset": left or 0, "end_col_offset": right or 0}
    name = ast.Name("_", ctx=ast.Load(), **where)
    module = ast.Module(body=[ast.Expr(name, **where)], type_ignores=[])
    compiled = compile(module, code.co_filename, "exec")
    return compiled.replace(co_name=code.co_name, co_qualname=code.co_qualname)
