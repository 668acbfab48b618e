"""A few hundred words that people write in capitals, for use without a lexicon."""

from speech.text.numbers import listed

WORDS = frozenset(
    listed(
        "a about after again all also always am an and any are as ask at away back bad be because been before "
        "best better big both but buy by call can change check cheap click close cold come could day days did do "
        "does done door down each easy end even ever every exit fast few find fire first for free from full get "
        "give go going good got great had has have he hello help her here him his home hot how hurry if important "
        "in into is it its just keep know last late left less let like line live long look lost love made make "
        "many may me mean might more most much must my need never new next nice no none not nothing now of off "
        "old on once one only open or order other our out over own pay people place please pull push put quick "
        "quiet read ready really red right run safe said sale same save say see seen sell send set she should "
        "show shut sign so some soon sorry start stay still stop such sure take talk tell than thank thanks that "
        "the their them then there these they thing things think this those time to today told too top true try "
        "turn two under until up us use used very wait walk want warning was watch water way we welcome well went "
        "were what when where which who why will win wish with word work world would wow wrong yes yet you your"
    )
)
