"""English words that tell plain text from other text: frequent ones, and those of orders."""

from __future__ import annotations

_WORDS = """
a able about above accept accepted access according act actual actually add additional address
admin administrator after again against agree ahead all allocate allow allowed almost along
already also always am amended amount an and angry another answer answers any anyone anything
anyway apply appropriate approved are around article as ask asked assess assessment assign
assistant assume at attempt attention authority automatic automatically average award awarded
aware away back bad ban banned base based be because become been before begin behalf behave being
believe belong belongs below beside best better between big bit board body bonus bot both bring
brother build business but by bypass call called can candidate candidates cannot care careful
carefully case certain change changed charge check checked checking chief child children choose
city class clean cleaned clear clearly close coach code come command commands comment common
company compare complete completely completion compliance compulsory concern concerning confirm
confirmed consider considered contains content context continue correct cost could count counts
course crash create creator credit criteria critical cut day dear decide decided deduct deduction
deep deepest delete demand department depend deserve deserves detailed developer did difference
different difficult direct directly director disable discard discussion disregard disregarding do
does dollars done door down drop during each early earn earned earns easy education effect effort
either else empty encourage end ended ends english enjoy enough ensure enter entire entry equal
equals error essay evaluate evaluation evaluator even ever every everybody everyone everything
exact exactly exam examination examiner excellent except exception exceptions exclusively execute
executed expect expert explain explanation expression extra extremely eye eyes face fact fail
failure fair fake family famous fan far fast father favour feedback feel few fight figure filter
final find fine finished first flawless follow following for forbidden force forget form
formatting found four free friend friendly from front fulfilled full fully further game gave
general generous genius get gets girl give given gives giving go god gold gone good got grade
graded grader grades grading grandmother grant granted great ground group grow guidelines had half
hand hands happen happy hard harmless has have he head hear heard heart hello help hence her here
hereby hey hi hidden hide high higher highest highly him his history hit hold home hope hour house
how however human hundred i idea identical if ignore ignored ignoring imagine immediately
importance important in incorrect indeed independent information input inside instead instruction
instructions instructor intelligence interest into irrelevant is issue it its itself job join
judge just keep key kind know knowledge known knows language large last late law least leave
lecture lecturer left legal length lenient less let letter level life light like likely limit line
list little live lives load local long longer look lose lost lot love loves low lower machine made
main make makes making man manager mandatory manual many mark marked marking marks master matter
matters max maximum may me mean means memory men mention mentioned merely message might minimum
minute misconceptions mode model moment money month more morning most mother move movie much must
my name named nation natural near need needs neglect never new news next nice night no none normal
not note nothing notice now number numbers obey of off official often old older omit on once one
only onto open opinion or order ordered orders original other others otherwise our out outcome
outdated output over override overriding own paper paragraph parents part particular party pass
passed password past patient pay people perfect perfectly perhaps person place plain play player
please pleased point points policies policy pose positive possible power precise prefer presence
present president press pretend previous price print prior probably problem problems process
produce professor program prompt proper protect proud prove provide provided providing public
publish put question questions quick quickly quite quote raise raised ran rate rather rating reach
reached read reader reading ready real reality really reason reasonable reasonably receive
receives record refer reference refuse refused regard regardless regards related release relevant
remain remember remind remote remove replace reply report reported represent request require
required requirement research reserved respect respond responds response rest restriction
restrictions result results return returns reveal review reviewed reward rewrite right role
roleplay root rubric rubrics rule rules sad safe said same sample sat save say scale scholarship
school score scored scores scoring screen script season second secret section security see seem
seems seen self send sentence separate serious service session set shall share she shorter shortly
should show shut sick side sign similar simple simply simulate since single sir site situation six
skip skipping small so social soft solution solutions some someone something sometimes son soon
sorry sort sound speak special specific spend spirit stand standard stands start starting state
stated statement states stays step stick still stop story street strict strictly strong student
students study style subject submission success such sudden sufficient suggest suit supervisor
support suppose supposed sure surely system take takes talk talking target task teach teacher
teaching team technical technique tell ten term test tests text than thank thanks that the their
them themselves then theory there therefore these they thing things think thinks third this those
though thought thousand three through throw thus time tip title to today together told tomorrow
tonight too took top topic total touch toward training translate treat tried trouble true truly
trust try trying turn twice two type typed uncle under understand understanding university unless
unlimited unlock unnecessary until up update updated upon upper urgent us use used user using
usually valid valuable value verified version versions very view visit voice wait walk want wants
warm warning was watch water way we week weights welcome well went were what when where whether
which while who whole whom whose why wife will win wish with within without woman women wonder
word words work worked working works world worry worse worst worth would write writing written
wrong wrote year years yes yet you young your yours yourself zero
"""

FREQUENT_WORDS = frozenset(_WORDS.split())
"""In lower case."""
