"""The studio's verdict: what can be kept, said of those whom it covers."""

import pyarrow as pa

from sfumato import Policy, Table
from sfumato.policy.verdict import verdict_of

PEOPLE = pa.table(
    {"age": [20 + i % 40 for i in range(400)], "illness": [("Flu", "Gout", "Cold", "HIV")[i % 4] for i in range(400)]}
)
COLUMNS = '[columns]\nquasi = ["age"]\nsensitive = ["illness"]\n[requirement]\n'
DECLARED = 'values = ["Flu", "Gout"]\notherwise = "Gout"\n'


def said(text):
    policy = Policy.parse(COLUMNS + text)
    return verdict_of(policy, Table.from_frame(PEOPLE, policy.schema))


def test_bounds_are_said_of_the_adversary_of_the_policy():
    found = said('model = "l-diversity"\nl = 2\nagainst = "reader"\n')
    assert found.can
    assert found.sentences[1].startswith(
        "A reader who uses no link between columns becomes at most 50 % sure that a given person"
    )


def test_noise_is_said_of_whoever_believed_the_declared_shares_and_shares_are_shares():
    found = said(f'model = "differential"\nepsilon = "1"\n[method]\nname = "noisy-boxes"\n{DECLARED}')
    assert found.can
    assert "against an insider who believed the declared shares before" in found.sentences[0]
    assert all(share <= 1 for _, share, _ in found.values)


def test_a_method_that_proves_nothing_is_not_said_to_keep_anything():
    method = '[method]\nname = "ring"\naccept_weaker_claim = true\nl = 2\n'
    found = said(f'model = "l-diversity"\nl = 2\nagainst = "reader"\n{method}')
    assert "bounds no belief" in found.sentences[0]
    assert len(found.sentences) == 1


def test_odds_are_said_of_every_secret_by_its_own_name_also_of_one_with_the_general_rule():
    people = PEOPLE.append_column("ward", pa.array([("a", "b", "c")[i % 3] for i in range(400)]))
    rule = 'model = "f-privacy"\ntheta = 8\noffset = "0.02"\nodds = 8\nprotect = "each"\n[requirement.columns.ward]\nodds = 4\n'
    policy = Policy.parse(COLUMNS.replace('["illness"]', '["illness", "ward"]') + rule)
    told = verdict_of(policy, Table.from_frame(people, policy.schema)).sentences
    assert [sentence.split(" people")[0] for sentence in told if "-fold" in sentence] == [
        "For illness: of what at least one in nine",
        "For ward: of what at least one in five",
    ]
    assert not any("becomes at most" in sentence for sentence in told)
