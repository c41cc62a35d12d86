package classify

import (
	"regexp"
	"strings"
)

var (
	// saysSo matches what only a person writes, since it answers what was said: an objection, an interest, a proposal.
	saysSo = regexp.MustCompile(strings.Join([]string{
		// what somebody knows about the mail that is answered
		`\b(?:i|we) (?:know|guess|see|think|assume|understand|reali[sz]e|suppose|take it|suspect|can tell|believe|` +
			`gather)\b`,
		`\b(?:weiß|weiss|vermute|denke|nehme an|glaube|sehe) (?:ich|wir|ja|schon|zwar|dass|es)\b`,
		`\b(?:ich|wir) (?:weiß|weiss|wissen|vermute|denke|glaube|sehe|nehme an)\b`,
		`\bje (?:sais|suppose|pense|vois|comprends|crois)\b`, `\b(?:sé|supongo|imagino|creo|veo|entiendo) que\b`,
		`\b(?:so|immagino|penso|capisco|vedo|credo) che\b`, `\b(?:sei|acho|imagino|suponho|entendo|vejo) que\b`,
		`\bik (?:weet|denk|vermoed|begrijp|zie|snap)\b`, `\bjag (?:vet|tror|antar|förstår|ser)\b`,
		`\bjeg (?:ved|vet|tror|antager|antar|forstår|ser|går ut)\b`, `\b(?:wiem|rozumiem|domyślam się|widzę|sądzę|` +
			`zdaję)\b`,
		`(?:^|[^\pL])(?:знаю|понимаю|думаю|вижу|полагаю|розумію|бачу)(?:[^\pL]|$)`, `\b(?:vím|chápu|předpokládám|` +
			`vidím)\b`,
		`(?:biliyorum|sanırım|anlıyorum|farkındayım|görüyorum)`, `\b(?:tiedän|ymmärrän|oletan|näen)\b`, `\btudom\b`,
		`\bștiu\b`,
		`と(?:は)?(?:思い|分かって|わかって|存じ|承知)`, `(?:我|我们)(?:知道|明白|猜|想)`, `알고|알지만|압니다|같지만`,
		// what somebody wants
		`\binterest(?:ed|ing)\b`, `\bsounds? (?:good|great|interesting|fine)`, `\blet(?:'|’)?s\b`, `\bhow (?:much|` +
			`many|about)\b`,
		`\b(?:call|ring|phone) me\b`, `\b(?:send|give|tell|show) (?:me|us)\b`, `\b(?:happy|glad|love|keen) to\b`,
		`\byes\b`, `\bagree\b`, `\bquote\b`, `\bdemo\b`,
		`\b(?:bin|sind|wäre[n]?|habe[n]?) .{0,30}interess`, `\brufen sie (?:mich|uns)\b`, `\bschicken sie (?:mir|` +
			`uns)\b`, `\bklingt\b`,
		`\bangebot\b`, `\bintéressé`, `\bappelez[- ]moi\b`, `\benvoyez[- ](?:moi|nous)\b`, `\bdevis\b`,
		`\bme interesa\b`,
		`\binteresad[oa]`, `\bllám[ea]me\b`, `\benv[ií]e(?:me|nos|nme)\b`, `\binteressat[oai]\b`,
		`\bmi interessa\b`, `\bchiamami\b`, `\bmi chiami\b`,
		`\binteressad[oa]`, `\bligue[- ]me\b`, `\bgeïnteresseerd\b`, `\binteresse\b`, `\bbel me\b`,
		`\bintresserad\b`, `\bring (?:mig|meg)\b`,
		`\binteresser(?:et|t)\b`, `\bzainteresowan`, `\bproszę (?:zadzwonić|przesłać|o ofertę)`, `интересн|` +
			`заинтересов|перезвоните|позвоните мне`,
		`ilgilen|arayın beni|beni arayın`, `興味`, `感兴趣|有兴趣`, `관심`, `\bzájem\b`, `\b(?:zavolejte|pošlete|napište)\b`,
		`kiinnosta`,
		`\b(?:soittakaa|soita|lähettäkää)\b`, `\b(?:hívjon|küldjön|érdekel)`, `\b(?:sunați|trimiteți|mă interesează)`,
		`(?:καλέστε|στείλτε|ενδιαφέρ)`, `надішліть|зателефонуйте|цікав`,
		// what somebody sets against it
		`[,;] ?(?:but|though|aber|doch|jedoch|mais|pero|mas|ma|però|maar|men|mutta|ale|jednak|но|однако|але|ama|` +
			`fakat|αλλά|de|dar|însă) `,
		`が、|けど|ですけれど|但|不过`, `지만`,
	}, "|"))
	// asks matches a question of a person.
	asks = regexp.MustCompile(`[?？؟]\s*["')]*$|;$`)
)

var greeting = regexp.MustCompile(
	`^(?:hi|hello|hallo|dear|hey|guten tag|bonjour|hola|ciao|olá|regards|best|thanks|thank you|kind regards|` +
		`mfg|viele grüße|cordialement|saludos|saluti|mvh)\b.{0,30}$`)
