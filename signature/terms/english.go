package terms

import "strings"

// english lists the closed word classes of English: words with a grammatical
// function only. It includes the parts that an apostrophe leaves of contractions.
var english = func() map[string]group {
	of := map[string]group{}
	for g, words := range map[group]string{
		pronoun: `i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
			it its itself we us our ours ourselves they them their theirs themselves
			who whom whose which what whoever whatever whichever this that these those
			someone somebody something anyone anybody anything everyone everybody everything nobody nothing none
			each other another one ones such`,
		connective: `a an the and or but nor so yet if because although though unless until while whereas whether than as since once
			of in on at by for with without within about against between among into onto through throughout during before after
			above below to from up down out off over under near upon toward towards across along around behind beside besides
			beyond despite except inside outside like per via
			am is are was were be been being have has had having do does did doing done will would shall should can could
			may might must ought cannot
			s t d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn ain
			some any no every all both either neither much many few several enough`,
		adverb: `not very too also just only even still already again always never often sometimes usually rarely ever
			here there where when why how now then soon later today thus hence therefore however moreover otherwise
			quite rather almost nearly perhaps maybe really actually simply mostly mainly more most less least well
			away back together else instead further furthermore meanwhile indeed`,
		numeral: `zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
			eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen
			first second third fourth fifth sixth seventh eighth ninth tenth half`,
	} {
		for word := range strings.FieldsSeq(words) {
			of[word] = g
		}
	}
	return of
}()
