"""Clouds: which addresses are legal, and whose a URL is."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s.clouds import DEFAULT_API_VERSION, Cloud, check_api_version
from azureml_k8s.exceptions import UserErrorException

SCOPE = "https://management.example.com/.default"
LOGIN = "https://login.example.com"

NOT_LOOPBACK = [
    "http://management.azure.com",
    "https://management.azure.com",
    "http://127.0.0.1.evil.com",
    "http://localhost.evil.com",
    "http://evil-localhost",
    "http://0x7f.1",
    "http://0x7f000001",
    "http://0177.0.0.1",
    "http://127.1",
    "http://2130706433",
    "http://0.0.0.0",
    "http://10.0.0.1",
    "http://169.254.169.254",
    "http://[::]",
    "http://[fe80::1]",
]
NO_ADDRESS = [
    "",
    " ",
    "127.0.0.1:8080",
    "//127.0.0.1",
    "http:127.0.0.1",
    "http:/127.0.0.1",
    "ftp://127.0.0.1",
    "file:///etc/passwd",
    "http://",
    "http://:8080",
    "http://127.0.0.1@evil.com",
    "http://evil.com@127.0.0.1",
    "http://user:pw@127.0.0.1",
    "http://127.0.0.1\\@evil.com",
    "http://127.0.0.1\\evil.com",
    "http://evil.com\\@127.0.0.1",
    "http:\\\\127.0.0.1",
    "http://127.0.0.1/path",
    "http://127.0.0.1//",
    "http://127.0.0.1?x",
    "http://127.0.0.1/?x",
    "http://127.0.0.1#x",
    "http://127.0.0.1:0",
    "http://127.0.0.1:65536",
    "http://127.0.0.1:",
    "http://127.0.0.1:-1",
    "http://127.0.0.1:8080:9090",
    "http://127.0.0.1:\u0668\u0660",
    "http://127\u30020\u30020\u30021",
    "http://\u217127.0.0.1",
    "http://loc\u212alhost",
    "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54",
    "http://127.0.0.1\n",
    "http://127.0.0.1\r\nHost: evil.com",
    "http://127.0.0.1\x00.evil.com",
    "http://127.0.0.1\t",
    " http://127.0.0.1",
    "http://127.0.0.1 ",
    "http://127.0.0.1.",
    "http://.127.0.0.1",
    "http://127..0.1",
    "http://%31%32%37.0.0.1",
    "http://[::ffff:127.0.0.1]",
    "http://[::1%25eth0]",
    "http://[::1",
    "http://::1",
    "http://[127.0.0.1]",
    "http://[::1]evil.com",
    "http://[::1].evil.com",
    "http://[:::]",
]


@pytest.mark.parametrize(
    ("name", "host", "scope", "authority"),
    [
        ("AzureCloud", "management.azure.com", "https://management.azure.com/.default", "login.microsoftonline.com"),
        (
            "AzureChinaCloud",
            "management.chinacloudapi.cn",
            "https://management.chinacloudapi.cn/.default",
            "login.chinacloudapi.cn",
        ),
        (
            "AzureUSGovernment",
            "management.usgovcloudapi.net",
            "https://management.core.usgovcloudapi.net/.default",
            "login.microsoftonline.us",
        ),
    ],
)
def test_built_in_clouds(name: str, host: str, scope: str, authority: str) -> None:
    """The three clouds are found in any letter case, with the scope that azure-core asks for."""
    for spelling in (name, name.upper(), name.lower(), f" {name} "):
        cloud = Cloud.named(spelling)
        assert cloud.name == name
        assert cloud.origin == cloud.resource_manager == f"https://{host}"
        assert cloud.host == host
        assert cloud.token_scope == scope
        assert cloud.authority == f"https://{authority}"
        assert cloud.api_version == DEFAULT_API_VERSION == "2024-04-01"
        assert not cloud.is_emulator


def test_unknown_cloud_lists_the_known() -> None:
    """An unknown name is answered with all known ones."""
    with pytest.raises(UserErrorException, match="AzureCloud, AzureChinaCloud, AzureUSGovernment") as caught:
        Cloud.named("AzureGermanCloud")
    assert caught.value.target == "cloud"
    assert "'AzureGermanCloud'" in caught.value.message


def test_of_takes_a_cloud_or_its_name() -> None:
    """`Cloud.of` passes a cloud through, looks a name up, and takes nothing else."""
    mine = Cloud("mine", "https://arm.local", SCOPE, LOGIN)
    assert Cloud.of(mine) is mine
    assert Cloud.of("azurecloud") is Cloud.named("AzureCloud")
    for wrong in (None, 7, b"AzureCloud", ["AzureCloud"]):
        with pytest.raises(TypeError, match="cloud"):
            Cloud.of(wrong)


def test_custom_cloud_is_kept_in_one_spelling() -> None:
    """A trailing slash, capitals in the host and a default port make no difference."""
    plain = Cloud("stack", "https://management.local.azurestack.external", SCOPE, LOGIN)
    other = Cloud("stack", "HTTPS://Management.Local.AzureStack.External:443/", SCOPE, f"{LOGIN}/")
    assert plain == other
    assert hash(plain) == hash(other)
    assert Cloud("stack", "https://arm:30024", SCOPE, LOGIN).origin == "https://arm:30024"


@pytest.mark.parametrize("argument", ["resource_manager", "authority"])
@pytest.mark.parametrize("url", ["http://arm.example.com", "http://127.0.0.1:8080", "http://localhost"])
def test_custom_cloud_must_be_https(argument: str, url: str) -> None:
    """Plain http is refused for the service and for sign-in, even on this machine."""
    arguments = {"resource_manager": "https://arm.example.com", "authority": LOGIN, argument: url}
    with pytest.raises(UserErrorException, match="must be https") as caught:
        Cloud("mine", token_scope=SCOPE, **arguments)
    assert caught.value.target == argument


@pytest.mark.parametrize("url", [url.replace("http:", "https:", 1) for url in NO_ADDRESS])
def test_custom_cloud_takes_only_an_address(url: str) -> None:
    """Whatever is not plainly scheme, host and port is refused."""
    for arguments in ((url, SCOPE, LOGIN), ("https://arm.example.com", SCOPE, url)):
        with pytest.raises(UserErrorException):
            Cloud("mine", *arguments)


@pytest.mark.parametrize(
    ("index", "argument"), list(enumerate(["name", "resource_manager", "token_scope", "authority"]))
)
def test_custom_cloud_names_a_wrong_type(index: int, argument: str) -> None:
    """A value that is no text is a TypeError that names it."""
    arguments: list[object] = ["mine", "https://arm.example.com", SCOPE, LOGIN]
    for wrong in (None, 7, b"https://arm.example.com"):
        arguments[index] = wrong
        with pytest.raises(TypeError, match=argument):
            Cloud(*arguments)


@pytest.mark.parametrize("text", ["", " ", "a\nb", " a", "a\x00"])
def test_name_and_scope_are_one_clean_line(text: str) -> None:
    """A name or scope that is empty, has outer blanks or control characters is refused."""
    with pytest.raises(UserErrorException, match="name"):
        Cloud(text, "https://arm.example.com", SCOPE, LOGIN)
    with pytest.raises(UserErrorException, match="token_scope"):
        Cloud("mine", "https://arm.example.com", text, LOGIN)


def test_error_shows_no_user_information_or_query() -> None:
    """Parts of an address that may be secret are not repeated in the error."""
    for url in ("https://me:hush@arm.example.com", "https://arm.example.com/?sig=hush", "https://a@b:hush@c#hush"):
        with pytest.raises(UserErrorException) as caught:
            Cloud("mine", url, SCOPE, LOGIN)
        assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://127.255.255.254", "http://127.255.255.254"),
        ("http://LOCALHOST:80", "http://localhost"),
        ("http://[::1]:5000", "http://[::1]:5000"),
        ("https://127.0.0.1:8443", "https://127.0.0.1:8443"),
        ("https://localhost:443", "https://localhost"),
    ],
)
def test_emulator_is_on_this_machine(url: str, origin: str) -> None:
    """Every ordinary spelling of this machine is an emulator's address, over http or https."""
    cloud = Cloud.emulator(url)
    assert isinstance(cloud, Cloud)
    assert cloud.is_emulator
    assert cloud.origin == cloud.resource_manager == cloud.authority == origin
    assert cloud.token_scope == f"{origin}/.default"
    assert cloud.owns(f"{origin}/subscriptions?api-version=1")


@pytest.mark.parametrize("url", NOT_LOOPBACK)
def test_emulator_is_on_no_other_machine(url: str) -> None:
    """Another host, or a disguised spelling of this one, is no emulator."""
    with pytest.raises(UserErrorException, match="not on this machine"):
        Cloud.emulator(url)


@pytest.mark.parametrize("url", NO_ADDRESS)
def test_emulator_takes_only_an_address(url: str) -> None:
    """Whatever parsers might read in two ways is refused."""
    with pytest.raises(UserErrorException, match="not the address of a server"):
        Cloud.emulator(url)


def test_emulator_takes_text() -> None:
    """A URL that is no text is a TypeError."""
    for wrong in (None, 8080, b"http://127.0.0.1"):
        with pytest.raises(TypeError, match="url"):
            Cloud.emulator(wrong)


def test_copies_of_an_emulator_stay_on_this_machine() -> None:
    """Copying, pickling and replacing keep an emulator one, and give no way to plain http elsewhere."""
    cloud = Cloud.emulator("http://127.0.0.1:8080")
    for twin in (copy.copy(cloud), copy.deepcopy(cloud), pickle.loads(pickle.dumps(cloud))):
        assert twin == cloud
        assert twin.is_emulator
    newer = dataclasses.replace(cloud, api_version="2025-06-01")
    assert newer.is_emulator
    assert newer.api_version == "2025-06-01"
    with pytest.raises(UserErrorException, match="not on this machine"):
        dataclasses.replace(cloud, resource_manager="http://evil.example.com")
    with pytest.raises(UserErrorException, match="must be https"):
        dataclasses.replace(Cloud.named("AzureCloud"), resource_manager="http://evil.example.com")
    with pytest.raises(dataclasses.FrozenInstanceError):
        cloud.resource_manager = "http://evil.example.com"
    with pytest.raises(TypeError):
        Cloud("mine", "http://127.0.0.1", SCOPE, LOGIN, is_emulator=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://management.azure.com",
        "https://management.azure.com/",
        "https://management.azure.com:443/subscriptions/x?api-version=1&t=a%20b#f",
        "HTTPS://MANAGEMENT.AZURE.COM/x",
        "https://management.azure.com?x=@evil.com",
        "https://management.azure.com/a\\b@c:d",
        "https://management.azure.com//subscriptions/\u00fc x",
    ],
)
def test_owns_its_host(url: str) -> None:
    """Letter case, the default port, and whatever follows the host do not matter."""
    assert Cloud.named("AzureCloud").owns(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/subscriptions/x",
        "//management.azure.com/x",
        "http://management.azure.com/x",
        "https://management.azure.com:8443/x",
        "https://management.azure.com.evil.com/x",
        "https://evil.com/management.azure.com",
        "https://management.azure.com@evil.com/x",
        "https://user@management.azure.com/x",
        "https://user:pw@management.azure.com/x",
        "https://evil.com\\@management.azure.com/x",
        "https://management.azure.com\\@evil.com/x",
        "https://management.azure.com\\.evil.com/x",
        "https://management.azure.com;evil.com/x",
        "https://management.azure.com%2eevil.com/x",
        "https://management\u3002azure.com/x",
        "https://management.azure.com\u2044.evil.com/x",
        "https://management.azure.com./x",
        " https://management.azure.com/x",
        "https:// management.azure.com/x",
        "https://management.azure.com/x\r\ny",
        "https://\tmanagement.azure.com/x",
        "https:management.azure.com/x",
        "https:///management.azure.com/x",
        "javascript:https://management.azure.com/x",
        "https://management.chinacloudapi.cn/x",
        None,
        b"https://management.azure.com/x",
    ],
)
def test_owns_no_other_host(url: object) -> None:
    """A URL elsewhere, or one that parsers might read in two ways, is not the cloud's."""
    assert not Cloud.named("AzureCloud").owns(url)


TRICKY = st.text(alphabet="abc.127:@/\\?#%[]\t\n \u3002\uff0f\x00-0x", max_size=40)


@given(prefix=st.sampled_from(["http://", "http://127.0.0.1", "http://localhost", "https://[::1]", ""]), rest=TRICKY)
def test_an_accepted_emulator_is_where_requests_goes(prefix: str, rest: str) -> None:
    """Whatever text is accepted as an emulator, requests would connect to this machine."""
    try:
        cloud = Cloud.emulator(prefix + rest)
    except UserErrorException:
        return
    url = requests.Request("GET", f"{cloud.origin}/x").prepare().url
    assert url == f"{cloud.origin}/x"
    host = requests.utils.urlparse(url).hostname
    assert host in ("localhost", "::1") or (host or "").startswith("127.")
    assert Cloud.emulator(cloud.origin) == cloud


@given(rest=TRICKY, glue=st.sampled_from(["", "/", "?", "#", "@", ":", ".", "\\"]))
def test_an_owned_url_is_where_requests_goes(rest: str, glue: str) -> None:
    """Whatever URL is owned, requests would send it to the cloud's host, over https, to port 443."""
    for url in (f"https://management.azure.com{glue}{rest}", f"https://{rest}{glue}management.azure.com"):
        if Cloud.named("AzureCloud").owns(url):
            parts = requests.utils.urlparse(requests.Request("GET", url).prepare().url)
            assert (parts.scheme, parts.hostname, parts.port or 443) == ("https", "management.azure.com", 443)
            assert parts.username is None


@given(st.text())
def test_owns_and_emulator_only_ever_refuse(text: str) -> None:
    """Any text at all gives an answer or a UserErrorException."""
    assert not Cloud.named("AzureUSGovernment").owns(text)
    with pytest.raises(UserErrorException):
        Cloud("mine", text, SCOPE, LOGIN)


@pytest.mark.parametrize(
    "version", ["2024-04-01", "2020-02-02", "2024-10-01-preview", "2019-01-01-privatepreview", "2024-01-31-Preview"]
)
def test_api_versions(version: str) -> None:
    """A date, with a preview mark or without, is an API version."""
    assert check_api_version(version) == version
    assert Cloud("mine", "https://arm.example.com", SCOPE, LOGIN, version).api_version == version


@pytest.mark.parametrize(
    "version",
    ["", "latest", "2024-4-1", "2024-13-01", "2024-04-32", "2024-04-01 ", "2024-04-01\n", "2024-04-01-beta", "v1",
     "2024-04-01&x=1", "\u0662\u0660\u0662\u0664-04-01"],
)  # fmt: skip
def test_no_api_versions(version: str) -> None:
    """Anything else is refused by the argument's name, with an example."""
    with pytest.raises(UserErrorException, match="2024-04-01") as caught:
        check_api_version(version, "version")
    assert caught.value.target == "version"
    with pytest.raises(UserErrorException, match="api_version"):
        Cloud("mine", "https://arm.example.com", SCOPE, LOGIN, version)


def test_api_version_of_a_wrong_type() -> None:
    """None is missing, another type is a TypeError."""
    with pytest.raises(UserErrorException, match="Missing argument: api_version"):
        check_api_version(None)
    with pytest.raises(TypeError, match="api_version"):
        check_api_version(20240401)
