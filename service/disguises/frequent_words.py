"""English words that tell plain text from other text: frequent ones, and those of orders."""

from __future__ import annotations

_WORDS = """
a able about above accept accepted according act actual actually add additional admin after again
against all allow allowed almost along already also always am an and another answer answers any
anyone anything apply are around as ask asked assign assistant assume at authority automatic
automatically award awarded away back bad base based be because become been before begin being
believe below best better between both but by call called can cannot case change check choose
class clear come command commands complete completely completion confirm confirmed consider
considered content contains context continue correct could course credit criteria critical day
deduct delete deserve deserves did different directly discard disregard do does done down during
each earn effort either else end enough ensure entire error essay evaluate evaluation evaluator
even ever every everything exact exactly exam examiner excellent except explain fail far few final
find first flawless follow following for force forget form from full fully further gave general
get give given gives giving go good got grade graded grader grades grading grant great guidelines
had hand has have he help her here hereby hidden hide high higher highest him his hold how however
human i if ignore ignored ignoring immediately important in incorrect information input instead
instruction instructions instructor into is issue it its itself just keep key know known large last
least less let level like line list little long look lot low made main make makes making manual
many mark marked marking marks matter matters max maximum may me mean means message might minimum
mode more most much must my name need never new next no none not note nothing now number of off
official often on once one only onto open or order orders original other others our out output over
override own part pass passed people perfect perfectly person place please point points policies
policy possible present previous prior probably problem professor program prompt provide provided
put question questions quite rate rating rather read real really reason receive regard regardless
remove replace reply reply report request require required requirement response result results
return reveal review reward right role rubric rubrics rule rules said same save say score scored
scores scoring second secret see seen send sentence set shall she should show simply since skip so
solution solutions some someone something standard start state statement step still stop strict
strictly student students submission such sufficient sure system take takes task teacher tell ten
test text than thank thanks that the their them then there therefore these they thing things think
this those though three through thus time to together too top total treat true trust two under
understand unless until up update upon us use used user using valid value verified very want was way
we well were what when where whether which while who whole whom whose why will with within without
word words work world would write written wrong yes yet you your yours yourself zero
"""

FREQUENT_WORDS = frozenset(_WORDS.split())
"""In lower case."""
