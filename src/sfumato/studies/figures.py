"""Every figure and table of the papers by its number: the study that asks it again, or what it is and where that is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.studies.study import Paper

Entry = tuple[str, str]
"""The number, and the name of a study, or what it is."""

EXAMPLE = "a worked example, "
SETTINGS = "tests/papers/test_000_001_settings.py"
BY_NUMBER: Mapping[Paper | str, Sequence[Entry]] = {
    "000": (
        ("Tables 2.1 to 2.3", "examples of k-anonymity and its attacks: nothing is measured"),
        ("Figure 3.1, 7.1", "001-fig2"),
        ("Tables 3.1, 3.2", "an example of what a bucket tells: nothing is measured"),
        ("Tables 3.3, 3.4", f"{EXAMPLE}checked in {SETTINGS} (72; 70 is printed, x7 is forgotten)"),
        ("Tables 4.1, 4.2, 5.1 to 5.3", f"{EXAMPLE}checked in {SETTINGS}"),
        ("Table 6.1, Figure 6.1", f"{EXAMPLE}checked in {SETTINGS} (148 and 98; 132 and 118 are printed)"),
        ("Tables 7.1, 7.2", "the census and the settings: the presets, `sfumato study list 001 --json`"),
        ("Figure 7.2", "001-fig3"),
        ("Figure 7.3", "001-fig4"),
        ("Figure 7.4", "001-fig5"),
        ("Figure 7.5", "001-fig6"),
        ("Figure 7.6", "001-fig7"),
    ),
    "001": (
        ("Tables 1, 2", "an example of the attack on answers with noise: nothing is measured; its theorem is the study below"),
        ("Table 3", "notation"),
        ("Figure 1", f"{EXAMPLE}checked in {SETTINGS}"),
        ("Tables 4, 5", "the settings and the census: the presets, `sfumato study list 001 --json`"),
        *((f"Figure {number}", f"001-fig{number}") for number in range(2, 8)),
        ("Theorem 2", "001-theorem2"),
        ("Section 6", "001-section6"),
    ),
    "002": (
        ("Table 1", "002-table1"),
        ("Figure 1", "an algorithm, word by word in tests/randomize/test_balance.py"),
        ("Figure 2", "002-fig2"),
        ("Table 2", "002-table2"),
        ("Table 3", "002-table3"),
        ("Figure 3", "002-fig3"),
        ("Figure 4", "002-fig4"),
        ("Figure 5", "002-fig5"),
        ("Table 4", "notation"),
        ("Figure 6", "001-fig2"),
    ),
    "003": (
        ("Figure 1", "a drawing of graphs: nothing is measured"),
        ("Table 1", f"{EXAMPLE}checked in tests/papers/test_003_heterogeneous.py"),
        ("Table 2", "notation"),
        ("Table 3", "an example of a dead end; repairs are checked in tests/papers/heterogeneous/test_matching.py"),
        ("Tables 4 to 9", f"{EXAMPLE}checked in tests/papers/test_003_heterogeneous.py (Table 8: 7/2, 7/3 is printed)"),
        ("Table 10", "columns and domains: those of the census are declared so in every study; COIL 2000 is not here"),
        ("Figure 2", "003-fig2"),
        ("Figure 3", "003-fig3"),
        ("Figures 4, 5", "003-fig4"),
        *((f"Figure {number}", f"003-fig{number}") for number in range(6, 12)),
        ("Section 5.1", "003-partitions"),
    ),
    "004": (
        ("Figure 1", f"{EXAMPLE}checked in tests/papers/test_004_ranges.py"),
        ("Figure 2", f"{EXAMPLE}checked in tests/papers/test_004_audit.py and test_004_queries.py"),
        ("Figure 3", "004-fig3"),
        ("Figure 4", "possible worlds, enumerated in tests/papers/test_004_audit.py"),
        ("Figure 5", "an algorithm; its example is checked in tests/papers/test_004_queries.py"),
        ("Figures 6, 7", "an example and its algorithm, checked in tests/papers/test_004_fragments.py"),
        ("Figure 8", "a formula, checked in tests/papers/test_004_fragments.py (it means the size of the group)"),
        ("Figure 9", f"{EXAMPLE}checked in tests/papers/test_004_audit.py"),
        ("Figure 10", "the columns of the census: nothing is measured"),
        *((f"Figure {number}", f"004-fig{number}") for number in range(11, 16)),
    ),
}
"""What measures nothing, and what is an example or an algorithm, is no study."""
