"""What can be asked for, and what is refused before anything is sent."""

from __future__ import annotations

import copy
import logging
import pickle
from dataclasses import FrozenInstanceError
from inspect import Parameter, signature
from typing import Any

import pytest
from bodies import AKS, ARC, GROUP, SUB, UAI, UAI2, WS
from hypothesis import given
from hypothesis import strategies as st

from azureml_k8s import (
    ComputeTargetAttachConfiguration,
    ComputeTargetException,
    KubernetesCompute,
    KubernetesComputeAttachConfiguration,
    UserErrorException,
)
from azureml_k8s.compute._configuration import MoreSettings

configuration = KubernetesCompute.attach_configuration


def test_both_ways_of_making_one_are_equal() -> None:
    """azureml-core's factory and the class take the same arguments in the same order."""
    made = configuration(AKS, "ml", "UserAssigned", [UAI])
    assert made == KubernetesComputeAttachConfiguration(
        resource_id=AKS, namespace="ml", identity_type="UserAssigned", identity_ids=[UAI]
    )
    assert isinstance(made, KubernetesComputeAttachConfiguration)
    assert isinstance(made, ComputeTargetAttachConfiguration)


def test_attributes_are_azureml_cores() -> None:
    """Each argument is an attribute of the same name; what was not given is None."""
    made = configuration(AKS)
    names = ("namespace", "identity_type", "identity_ids", "default_instance_type", "instance_types", "tags")
    assert made.resource_id == AKS
    assert [getattr(made, name) for name in (*names, "description")] == [None] * 7
    assert made._compute_type == "Kubernetes"
    made.validate_configuration()


def test_to_dict_has_azureml_cores_keys() -> None:
    """The four keys always, what is new only where it was given."""
    assert configuration(AKS).to_dict() == {
        "resourceId": AKS,
        "namespace": None,
        "identityType": None,
        "identityIds": None,
    }
    full = configuration(
        AKS,
        "ml",
        "UserAssigned",
        UAI,
        default_instance_type="gpu",
        instance_types={"gpu": {"resources": {}}},
        tags={"a": "1"},
        description="d",
    )
    assert full.to_dict() == {
        "resourceId": AKS,
        "namespace": "ml",
        "identityType": "UserAssigned",
        "identityIds": [UAI],
        "defaultInstanceType": "gpu",
        "instanceTypes": {"gpu": {"resources": {}}},
        "tags": {"a": "1"},
        "description": "d",
    }


def test_it_is_frozen() -> None:
    """A checked value stays checked."""
    made = configuration(AKS, "ml")
    with pytest.raises(FrozenInstanceError):
        made.namespace = "NOT a ns!"  # type: ignore[misc]
    assert made.namespace == "ml"


def test_what_was_given_is_copied() -> None:
    """A list or mapping that the caller changes later, or gets from to_dict, changes nothing."""
    ids, types, tags = [UAI], {"gpu": {"nodeSelector": {"a": "b"}}}, {"a": "1"}
    made = configuration(AKS, None, "UserAssigned", ids, instance_types=types, tags=tags)
    before = made.to_dict()
    ids.append("junk")
    types["gpu"]["nodeSelector"]["a"] = "junk"
    tags["a"] = "junk"
    made.to_dict()["instanceTypes"]["gpu"] = "junk"
    assert made.to_dict() == before


def test_copies_and_pickles_are_equal() -> None:
    """A configuration may travel to another process."""
    made = configuration(AKS, "ml", "UserAssigned", [UAI], tags={"a": "1"})
    assert copy.copy(made) == made
    assert copy.deepcopy(made) == made
    assert pickle.loads(pickle.dumps(made)) == made


def test_repr_masks_what_its_name_calls_a_secret() -> None:
    """Tags and instance types may hold anything."""
    made = configuration(AKS, tags={"accessToken": "hush"}, instance_types={"a": {"nodeSelector": {"apiKey": "hush"}}})
    assert "hush" not in repr(made)
    assert AKS in repr(made)


@pytest.mark.parametrize(
    "resource_id",
    [
        AKS,
        ARC,
        AKS.lower(),
        AKS.upper(),
        ARC.replace("connectedClusters", "ConnectedClusters"),
        AKS.replace("/rg/", "/My.Group_(prod)-1/"),
        AKS.replace("aks1", "aks_1.x"),
    ],
)
def test_cluster_ids_of_both_kinds_in_any_case_are_kept(resource_id: str) -> None:
    """AML-Kubernetes#29: parentheses and dots in group names are legal."""
    assert configuration(resource_id).resource_id == resource_id


@pytest.mark.parametrize("resource_id", [f"{AKS}/", f" {AKS}\n", f"{AKS}/ "])
def test_slashes_and_blanks_at_the_end_are_trimmed(resource_id: str) -> None:
    """Ids are pasted from shells and pages."""
    assert configuration(resource_id).resource_id == AKS


@pytest.mark.parametrize(
    "resource_id",
    [
        None,
        "",
        "  ",
        "aks1",
        f"{GROUP}/providers/Microsoft.Storage/storageAccounts/store",
        WS,
        AKS + "/agentPools/pool",
        AKS + "\n/extra",
        AKS + "?x=1",
        AKS + "#x",
        AKS.removeprefix("/"),
        "https://management.azure.com" + AKS,
        AKS.replace(SUB, "not-a-guid"),
        AKS.replace(SUB, "<subscription>"),
        AKS.replace("aks1", ".."),
        AKS.replace("aks1", "%2e%2e"),
        AKS.replace("aks1", "a\x00b"),
        AKS.replace("/rg/", "//"),
        AKS.replace("Microsoft.ContainerService/managedClusters", "Microsoft.ContainerService/connectedClusters"),
    ],
)
def test_what_is_no_cluster_is_refused(resource_id: str | None) -> None:
    """The whole text is matched; the error names the argument and shows both templates."""
    with pytest.raises(UserErrorException, match="resource_id") as caught:
        configuration(resource_id)
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert "resource_id" in text.splitlines()[0]
    assert ("managedClusters" in text and "connectedClusters" in text) or "its " in text


def test_azureml_cores_words_for_a_missing_and_a_wrong_id_stay() -> None:
    """Scripts match on them."""
    with pytest.raises(ComputeTargetException, match=r"^Missing argument: resource_id\."):
        configuration()
    with pytest.raises(ComputeTargetException, match=r"^Invalid resource_id provided: "):
        configuration("aks1")


@pytest.mark.parametrize("namespace", ["default", "a", "a-1", "1a", "a" * 63])
def test_namespaces_are_dns_labels(namespace: str) -> None:
    """What Kubernetes takes."""
    assert configuration(AKS, namespace).namespace == namespace


@pytest.mark.parametrize(
    "namespace", ["", " ", "NOT a ns!", "Team", "a.b", "-a", "a-", "a_b", "a" * 64, "ä", "a\n", " a", "a/b", "\u0661"]
)
def test_other_namespaces_are_refused(namespace: str) -> None:
    """terraform-provider-azurerm#17562: upper case is refused here, since the cluster would refuse it later."""
    with pytest.raises(UserErrorException, match="namespace"):
        configuration(AKS, namespace)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("SystemAssigned", "SystemAssigned"),
        ("systemassigned", "SystemAssigned"),
        ("SYSTEMASSIGNED", "SystemAssigned"),
        ("system_assigned", "SystemAssigned"),
    ],
)
def test_identity_types_in_any_case(given: str, kept: str) -> None:
    """AML-Kubernetes#279: letter case does not matter; the CLI's spelling is taken too."""
    assert configuration(AKS, identity_type=given).identity_type == kept


@pytest.mark.parametrize("kind", ["SystemAssigned,UserAssigned", "userassigned, systemassigned"])
def test_both_kinds_of_identity_are_refused_with_the_reason(kind: str) -> None:
    """A Kubernetes compute has one."""
    with pytest.raises(UserErrorException, match="not both"):
        configuration(AKS, identity_type=kind, identity_ids=[UAI])


@pytest.mark.parametrize("kind", ["", " ", "None", "Managed", "SystemAssigned,Other", ","])
def test_unknown_kinds_of_identity_are_refused(kind: str) -> None:
    """The error names the argument."""
    with pytest.raises(UserErrorException, match="identity_type"):
        configuration(AKS, identity_type=kind)


def test_one_text_may_hold_several_identities(caplog: pytest.LogCaptureFixture) -> None:
    """Ids joined by commas, as the Azure command line takes them, are several; a warning names the one used."""
    configuration = KubernetesCompute.attach_configuration(AKS, None, "UserAssigned", f"{UAI}, {UAI2}")
    assert configuration.identity_ids == [UAI, UAI2]
    assert UAI in caplog.text


@pytest.mark.parametrize(
    ("kind", "ids"),
    [
        (None, [UAI]),
        ("SystemAssigned", [UAI]),
        ("UserAssigned", None),
        ("UserAssigned", []),
        ("UserAssigned", ""),
        ("UserAssigned", [""]),
        ("UserAssigned", [None]),
        ("UserAssigned", [AKS]),
        ("UserAssigned", ["id1"]),
        ("UserAssigned", [UAI, "junk"]),
        ("UserAssigned", f"{UAI},"),
    ],
)
def test_identities_that_do_not_fit_are_refused(kind: str | None, ids: Any) -> None:
    """AML-Kubernetes#279: ids without UserAssigned, UserAssigned without ids, and what is no identity."""
    with pytest.raises(UserErrorException, match="identity_ids"):
        configuration(AKS, None, kind, ids)


@pytest.mark.parametrize("ids", [UAI, [UAI], (UAI,), UAI.removeprefix("/"), [UAI.removeprefix("/")], iter([UAI])])
def test_identity_ids_may_be_a_list_or_one_text(ids: Any) -> None:
    """The leading slash is optional, as the guides often leave it out."""
    assert configuration(AKS, None, "UserAssigned", ids).identity_ids == [UAI]


def test_several_identities_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    """The service uses the first only."""
    with caplog.at_level(logging.WARNING, "azureml_k8s"):
        made = configuration(AKS, None, "UserAssigned", [UAI, UAI2])
    assert made.identity_ids == [UAI, UAI2]
    (record,) = caplog.records
    assert "first" in record.getMessage()
    assert UAI in record.getMessage()


def test_the_previews_argument_says_what_replaced_it() -> None:
    """aml_k8s_config of the preview is a TypeError with the way on."""
    with pytest.raises(TypeError, match="instance_types"):
        configuration(AKS, aml_k8s_config={})
    with pytest.raises(TypeError, match="instance_types"):
        configuration(AKS, aml_k8s_config=None)


@pytest.mark.parametrize("make", [configuration, KubernetesComputeAttachConfiguration])
def test_unknown_settings_are_refused_by_name(make: Any) -> None:
    """terraform-provider-azurerm#21457: a misspelt setting is not ignored."""
    with pytest.raises(TypeError, match="name_space"):
        make(AKS, name_space="ml")


@pytest.mark.parametrize(
    "settings",
    [
        {"resource_id": 7},
        {"resource_id": AKS, "namespace": 7},
        {"resource_id": AKS, "identity_type": 7},
        {"resource_id": AKS, "identity_type": "UserAssigned", "identity_ids": 7},
        {"resource_id": AKS, "identity_type": "UserAssigned", "identity_ids": [7]},
        {"resource_id": AKS, "identity_type": "UserAssigned", "identity_ids": {UAI: {}}},
        {"resource_id": AKS, "default_instance_type": 7},
        {"resource_id": AKS, "instance_types": ["gpu"]},
        {"resource_id": AKS, "instance_types": {"gpu": None}},
        {"resource_id": AKS, "instance_types": {7: {}}},
        {"resource_id": AKS, "instance_types": {"gpu": {"resources": object()}}},
        {"resource_id": AKS, "instance_types": {"gpu": {"resources": float("nan")}}},
        {"resource_id": AKS, "tags": ["a"]},
        {"resource_id": AKS, "tags": {"a": 1}},
        {"resource_id": AKS, "description": 7},
    ],
)
def test_values_of_other_types_are_type_errors(settings: dict[str, Any]) -> None:
    """The argument is named."""
    argument = list(settings)[-1]
    with pytest.raises(TypeError, match=argument):
        configuration(**settings)


def test_instance_types_nested_without_end_are_refused() -> None:
    """What copying and comparing could not follow is no setting."""
    deep: dict[str, Any] = {}
    for _ in range(700):
        deep = {"a": deep}
    with pytest.raises(TypeError, match=r"instance_types.*too deep"):
        configuration(AKS, instance_types=deep)


def test_the_default_instance_type_is_one_of_them() -> None:
    """As the service wants it; letter case does not count."""
    configuration(AKS, default_instance_type="GPU", instance_types={"gpu": {}})
    with pytest.raises(UserErrorException, match="default_instance_type"):
        configuration(AKS, default_instance_type="cpu", instance_types={"gpu": {}})


def test_the_base_asks_to_be_overridden() -> None:
    """A class of somebody's own must say how it is checked."""
    base = ComputeTargetAttachConfiguration("Kubernetes")
    assert base._compute_type == "Kubernetes"
    with pytest.raises(NotImplementedError):
        base.validate_configuration()


@given(st.text(max_size=40))
def test_any_text_as_a_namespace_is_kept_or_refused(text: str) -> None:
    """What is kept is a label, letter for letter; all else is our own error."""
    try:
        kept = configuration(AKS, text).namespace
    except UserErrorException:
        return
    assert kept == text
    assert 1 <= len(text) <= 63
    assert set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert text.strip("-") == text


@given(st.sampled_from([AKS, ARC, UAI]), st.integers(0, 200), st.text(max_size=3))
def test_an_id_with_something_in_it_is_kept_or_refused(resource_id: str, place: int, stray: str) -> None:
    """No text between the parts of an id gets through by chance."""
    text = resource_id[:place] + stray + resource_id[place:]
    try:
        kept = configuration(text).resource_id
    except UserErrorException:
        return
    assert kept in text
    assert kept.count("/") == 8
    assert not set(kept) & set("?#%\\<>&")


def test_azureml_cores_other_bases_keep_their_attributes() -> None:
    """Code that derives from them reads _compute_type and location."""
    from azureml_k8s.compute.compute import ComputeTargetProvisioningConfiguration, ComputeTargetUpdateConfiguration

    made = ComputeTargetProvisioningConfiguration("AmlCompute", "westus")
    assert (made._compute_type, made.location) == ("AmlCompute", "westus")
    assert ComputeTargetUpdateConfiguration("AmlCompute")._compute_type == "AmlCompute"


def test_the_factory_types_what_the_configuration_takes() -> None:
    """Editors and type checkers know the keyword-only settings of attach_configuration, each with its type."""
    keywords = {
        name: str(one.annotation)
        for name, one in signature(KubernetesComputeAttachConfiguration).parameters.items()
        if one.kind is Parameter.KEYWORD_ONLY and name != "aml_k8s_config"
    }
    more = signature(KubernetesCompute.attach_configuration).parameters["more"]
    assert more.annotation == f"Unpack[{MoreSettings.__name__}]"
    assert {name: one.__forward_arg__ for name, one in MoreSettings.__annotations__.items()} == keywords
