"""Local recoding: the records of one class are generalised only as far as that class needs.

A *group* is a set of records that are released alike, each quasi-identifier by the lowest label that stands for all
their values. There are two ways to form groups that all meet the criteria:

- `mondrian` divides: all records are one group, and a group is cut in two near the median of an attribute as long as
  both halves meet the criteria (LeFevre, DeWitt and Ramakrishnan 2006).
- `recode_locally` merges and rearranges: combinations of values that meet the criteria stay as they are, every other
  group is merged with that which costs least. From that, or from what `mondrian` does if it loses less, a group and
  some of the nearest are again and again taken apart and put together anew; what loses no more is kept.

Everything works on the distinct combinations of quasi-identifiers and of those sensitive values that the criteria look
at, with the number of their records; large inputs are searched in blocks of near groups. Doubles guide the search, but
whether a class meets the criteria is decided exactly, by `Criterion.holds`, and once more on the released columns
themselves. `docs/anonymise-local.md` derives what is computed here.
"""

from glasshouse.mitigation.local.dividing import mondrian
from glasshouse.mitigation.local.searching import OBJECTIVES, recode_locally

__all__ = ["OBJECTIVES", "mondrian", "recode_locally"]
