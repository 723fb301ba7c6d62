"""The fake API server does what a kube-apiserver 1.20.2 was seen to do."""

import http.client
import json

import pytest

from .helpers import json_pod


@pytest.fixture
def ask(server):
    """Return a function that sends a GET and returns status and body."""

    def send(path, token="good-token"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, json.loads(text) if text.startswith("{") and "\n" not in text else text

    return send


@pytest.fixture
def pods(api):
    api.put(
        json_pod("b-2", "10.0.0.2", namespace="b", labels={"tier": "db", "job": "x"}),
        json_pod("b-10", "10.0.0.10", "Pending", namespace="b", labels={"tier": "web"}),
        json_pod("a-1", "10.0.0.1", namespace="a", labels={"job": "x"}),
    )


def found(answer):
    return [item["metadata"]["name"] for item in answer[1]["items"]]


def test_key_order(ask, pods):
    """Lists are in key order, by namespace and by name as text."""
    assert found(ask("/api/v1/pods")) == ["a-1", "b-10", "b-2"]
    assert found(ask("/api/v1/namespaces/b/pods")) == ["b-10", "b-2"]
    assert found(ask("/api/v1/namespaces/nobody/pods")) == []


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("job=x", ["a-1", "b-2"]),
        ("job%3D%3Dx", ["a-1", "b-2"]),
        ("job!=x", ["b-10"]),
        ("tier in (db, web)", ["b-10", "b-2"]),
        ("tier notin (db)", ["a-1", "b-10"]),
        ("tier", ["b-10", "b-2"]),
        ("!tier", ["a-1"]),
        ("job=x,tier in (db,web)", ["b-2"]),
        ("", ["a-1", "b-10", "b-2"]),
    ],
)
def test_label_selectors(ask, pods, selector, names):
    """Label selectors of all kinds."""
    assert found(ask(f"/api/v1/pods?labelSelector={selector.replace(' ', '%20')}")) == names


@pytest.mark.parametrize("selector", ["-", "=", "a b"])
def test_bad_label_selectors(ask, selector):
    """Selectors that cannot be parsed are 400 with the parser's words."""
    status, body = ask(f"/api/v1/pods?labelSelector={selector.replace(' ', '%20')}")
    assert (status, body["reason"]) == (400, "BadRequest")
    assert "unable to parse requirement" in body["message"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=a-1", ["a-1"]),
        ("status.phase!=Running", ["b-10"]),
        ("status.phase=Running,metadata.namespace=b", ["b-2"]),
        ("status.podIP=10.0.0.2", ["b-2"]),
    ],
)
def test_field_selectors(ask, pods, selector, names):
    """Pods can be selected by a few fields."""
    assert found(ask(f"/api/v1/pods?fieldSelector={selector}")) == names


def test_bad_field_selector(ask):
    """The node's address is none of them."""
    status, body = ask("/api/v1/pods?fieldSelector=status.hostIP=x")
    assert (status, body["message"]) == (400, "field label not supported: status.hostIP")


def test_pages(ask, pods, api):
    """A limit gives a token; remainingItemCount is there only without a selector."""
    status, first = ask("/api/v1/pods?limit=2")
    assert (status, found((200, first)), first["metadata"]["remainingItemCount"]) == (200, ["a-1", "b-10"], 1)
    second = ask(f"/api/v1/pods?limit=2&continue={first['metadata']['continue']}")
    assert found(second) == ["b-2"]
    assert "continue" not in second[1]["metadata"]
    assert "remainingItemCount" not in ask("/api/v1/pods?limit=1&labelSelector=job")[1]["metadata"]
    api.expiring_tokens = 1
    status, gone = ask(f"/api/v1/pods?limit=2&continue={first['metadata']['continue']}")
    assert (status, gone["reason"]) == (410, "Expired")
    assert found(ask(f"/api/v1/pods?limit=2&continue={gone['metadata']['continue']}")) == ["b-2"]
    assert ask("/api/v1/pods?limit=2&continue=garbage")[0] == 400


def test_refusals(ask, api):
    """Unknown tokens are 401, no token is anonymous, roles are for verbs and namespaces, other paths plain text."""
    assert ask("/api/v1/pods", token="bad")[0] == 401
    assert 'User "system:anonymous"' in ask("/api/v1/pods", token=None)[1]["message"]
    api.forbidden = {("list", None), ("list", "a")}
    assert ask("/api/v1/pods")[1]["message"].endswith("at the cluster scope")
    assert ask("/api/v1/namespaces/a/pods")[1]["message"].endswith('in the namespace "a"')
    assert ask("/api/v1/namespaces/b/pods")[0] == 200
    assert ask("/apis/none/v1/things") == (404, "404 page not found\n")


def test_version_of_the_future(ask):
    """A version that is not there yet is a 504."""
    assert ask("/api/v1/pods?resourceVersion=100000")[0] == 504


def test_watch(ask, pods, api):
    """A watch from a version has what came later, from nothing all that is there, from too old a version a 410."""
    api.longest_watch_s = 0.05
    api.delete("a-1", "a")

    def events(query):
        body = ask(f"/api/v1/pods?watch=true&timeoutSeconds=1{query}")[1]
        return [json.loads(line) for line in body.splitlines()] if isinstance(body, str) else [body]

    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events("&resourceVersion=102")] == [
        ("ADDED", "a-1"),
        ("DELETED", "a-1"),
    ]
    assert [event["object"]["metadata"]["name"] for event in events("")] == ["b-2", "b-10"]
    api.compact()
    (gone,) = events("&resourceVersion=102")
    assert (gone["type"], gone["object"]["code"]) == ("ERROR", 410)
