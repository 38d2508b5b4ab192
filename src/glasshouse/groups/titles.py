"""What each figure of a sampled table is called, in plain words."""

from __future__ import annotations

from glasshouse.language import marked, number, text, translated

FIGURES = {
    "attacker_success": marked("mean greatest probability, attacker"),
    "learner_success": marked("mean greatest probability, learner"),
    "gt_attacker": marked("best guess right, attacker (GT_A)"),
    "gt_learner": marked("best guess right, learner (GT_L)"),
    "gt_attacker_random_ties": marked("best guess right, attacker, ties at random"),
    "gt_learner_random_ties": marked("best guess right, learner, ties at random"),
    "abs_attacker": marked("absolute error, attacker (ABS_A)"),
    "abs_learner": marked("absolute error, learner (ABS_L)"),
    "rgt": marked("relative global threat (RGT)"),
    "highest_ti": marked("highest relative threat (Ti) of a threatened record"),
    "highest_ti_of_all": marked("highest relative threat (Ti) of any record"),
    "log2_ti_attacker_mean": marked("mean of log₂ Ti, threatened by the attacker"),
    "log2_ti_attacker_skewness": marked("skewness of log₂ Ti, threatened by the attacker"),
    "log2_ti_learner_mean": marked("mean of log₂ Ti, threatened by the learner"),
    "log2_ti_learner_skewness": marked("skewness of log₂ Ti, threatened by the learner"),
    "rf": marked("relative faithfulness (equation 21), of the chains alone"),
    "rf_bounded": marked("relative faithfulness, bounded, of the chains alone"),
}
"""What each sampled figure is, in plain words."""


def figure_title(name: str) -> str:
    """Return what a sampled figure is, in plain words.

    >>> figure_title("ti_above_2_of_all")
    'records with a relative threat above 2'
    """
    if not name.startswith("ti_above_"):
        return translated(FIGURES[name])
    limit = number(float(name.removeprefix("ti_above_").removesuffix("_of_all")), "g")
    if name.endswith("_of_all"):
        return text("records with a relative threat above {limit}", limit=limit)
    return text("threatened records with a relative threat above {limit}", limit=limit)
