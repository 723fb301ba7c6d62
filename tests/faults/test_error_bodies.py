"""Error bodies that are not the expected JSON: status, code, message and a piece of the body still come through."""

from __future__ import annotations

from typing import Any

import pytest

from azureml_k8s import ComputeTarget
from azureml_k8s import exceptions as e
from faults.harness import Rig, about

ROWS: list[tuple[int, str, Any, str, tuple[str, ...]]] = [
    (400, "text/plain", "no such thing", "no such thing", ()),
    (502, "text/html", "<html><head><title>Bad Gateway</title></head><body></body></html>", "Bad Gateway", ()),
    (403, "application/json", '"nope"', "nope", ()),
    (404, "application/json", {"Code": "X", "Message": "y"}, "y", ("X",)),
    (400, "application/json", {"error": "s"}, "s", ()),
    (500, "application/json", b"", "HTTP 500", ()),
    (400, "application/json", ["a"], "a", ()),
    (409, "application/json", {"error": {"code": "C", "message": "m", "innererror": {"code": "D"}}}, "m", ("C", "D")),
    (
        400,
        "application/json",
        {"error": {"code": "C", "message": "m", "innerError": None, "details": None}},
        "m",
        ("C",),
    ),
    (
        400,
        "application/json",
        {"error": {"code": "C", "message": '{"error": {"code": "E", "message": "deep"}}'}},
        "deep",
        ("C", "E"),
    ),
]


@pytest.mark.parametrize(("status", "kind", "body", "says", "codes"), ROWS)
def test_an_error_body_of_any_shape(
    rig: Rig, status: int, kind: str, body: Any, says: str, codes: tuple[str, ...]
) -> None:
    """One exception with status, codes and message, in whatever shape they came (autorest.python#791)."""
    headers = {"Content-Type": kind, "x-ms-request-id": "their-id"}
    rig.faults.add(about("compute"), status=status, headers=headers, body=body, every=1)
    with pytest.raises(e.ServiceException) as caught:
        ComputeTarget(rig.workspace, "k8s1")
    assert caught.value.status_code == status
    assert says in caught.value.message
    assert caught.value.codes == codes
    assert caught.value.request_id == "their-id"
    assert len(rig.sent) >= 5 if status >= 500 else len(rig.sent) == 1


def test_a_login_page_with_200_is_no_answer(rig: Rig) -> None:
    """A proxy's page with 200 mentions the unexpected content type (autorest.python#791, last case)."""
    rig.faults.add(about("compute"), html=True)
    with pytest.raises(e.UnreachableException, match="unexpected content type text/html"):
        ComputeTarget(rig.workspace, "k8s1")
