"""Anonymised tables: what an attacker who knows that a person is in the table learns beyond the population.

A `Release` is read from what was published (`from_generalised`, `from_group_column`, `from_anatomy`, `from_json`);
`threat` answers for everybody in it, exactly where that is possible and by sampling where not.
"""

from glasshouse.groups.beliefs import Beliefs, ExactKnowledge, Faithfulness, Knowledge
from glasshouse.groups.enumeration import enumerated, enumerated_fractions, number_of_tables
from glasshouse.groups.estimates import Sampled
from glasshouse.groups.labels import Ancestors, ancestors
from glasshouse.groups.measures import Measures, Reading, Threat, measure
from glasshouse.groups.outcome import ThreatOutcome, threat
from glasshouse.groups.readers import from_anatomy, from_generalised, from_group_column
from glasshouse.groups.release import Attribute, Release, Scheme, Sensitive
from glasshouse.groups.release_json import from_json
from glasshouse.groups.sampler import SamplingBudget, sample
from glasshouse.groups.tree import closed_form, closed_form_fractions
from glasshouse.groups.victims import Original, Victims, victims_of, victims_of_table

__all__ = [
    "Ancestors",
    "Attribute",
    "Beliefs",
    "ExactKnowledge",
    "Faithfulness",
    "Knowledge",
    "Measures",
    "Original",
    "Reading",
    "Release",
    "Sampled",
    "SamplingBudget",
    "Scheme",
    "Sensitive",
    "Threat",
    "ThreatOutcome",
    "Victims",
    "ancestors",
    "closed_form",
    "closed_form_fractions",
    "enumerated",
    "enumerated_fractions",
    "from_anatomy",
    "from_generalised",
    "from_group_column",
    "from_json",
    "measure",
    "number_of_tables",
    "sample",
    "threat",
    "victims_of",
    "victims_of_table",
]
