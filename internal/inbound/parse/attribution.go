package parse

import (
	"regexp"
	"strings"
)

// Limits of the sentence above a quotation, such as "On Monday Ada wrote:".
const (
	maxAttribution      = 400 // bytes
	maxAttributionLines = 4
)

var (
	// wrote has the verbs of such sentences.
	wrote = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:` + strings.Join([]string{
		`wrote`, `writes`, `schrieb(?:en)?`, `hat .{0,80}geschrieben`, `a écrit`, `écrit`, `a ecrit`, `escribió`,
		`escribio`, `ha escrito`,
		`ha scritto`, `scrive`, `escreveu`, `va escriure`, `schreef`, `het volgende geschreven`, `skrev`, `skreiv`,
		`skrifaði`,
		`napisał(?:\(a\)|a)?`, `napisal(?:a|\(a\))?`, `pisze`, `написал(?:\(а\)|а)?`, `пишет`, `писал(?:а)?`,
		`написав(?:ла)?`, `пише`, `написа`,
		`napsal(?:\(a\)|a)?`, `napísal(?:\(a\)|a)?`, `je napisao(?:/la)?`, `je napisala?`, `napisao(?:/la)?`,
		`је написао`, `je pisal`, `kirjoitti`, `yazdı`,
		`şunları yazdı`, `έγραψε`, `ezt írta`, `írta`, `a scris`, `parašė`, `rakstīja`, `kirjutas`, `כתב(?:ה|/ה)?`,
		`מאת`, `كتب(?:ت)?`, `نوشت`,
		`เขียนว่า`, `เขียน`, `đã viết`, `menulis`, `wrote on`,
	}, "|") + `)(?:[^\pL]|$)|写道|寫道|撰寫|书写|書きました|님이 작성|작성하였습니다|썼습니다|のメール|wrote`)

	// moment matches a date or a time of day.
	moment = regexp.MustCompile(`\d{4}|\d{1,2}[:.h]\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2}|[\x{4e00}-\x{9fff}]+\d|` +
		`\d{1,2}[月.]\s?\d{1,2}`)
	// mailAddress matches an address in angle brackets, or one that a program has linked.
	mailAddress = regexp.MustCompile(`[<(\[]\s*(?:mailto:)?[^\s<>@]+@[^\s<>@]+[>)\]]`)
	// zoho matches a sentence between hyphens.
	zoho = regexp.MustCompile(`^-{2,} ?.{8,200}-{2,}$`)
)

// attributionLines returns of how many lines the sentence above a quotation is that begins with the first one, or 0.
func attributionLines(lines []string) int {
	joined := ""
	for n := range maxAttributionLines {
		if n >= len(lines) {
			return 0
		}
		line := strings.TrimSpace(lines[n])
		if n > 0 && (line == "" || isQuoted(line)) {
			return 0
		}
		if joined = strings.TrimSpace(joined + " " + line); len(joined) > maxAttribution {
			return 0
		}
		if isAttribution(joined, lines[n+1:]) && (n == 0 || mayBegin(lines[0])) {
			return n + 1
		}
	}

	return 0
}

// mayBegin reports whether a line can be the first one of the sentence: a text before it is no part of it.
func mayBegin(line string) bool {
	line = strings.TrimSpace(line)
	return startsQuote.MatchString(line) || moment.MatchString(line) || mailAddress.MatchString(line)
}

// startsQuote matches the words with which such sentences begin.
var startsQuote = regexp.MustCompile(`(?i)^(?:on|am|le|el|il|em|a|op|den|på|w dniu|dnia?|dne|dňa|в|на|у|у|az|a|în|` +
	`pe|tarihinde|στις|la|ngày|pada|vào|d\.|` +
	`mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|\d|在|于)(?:[^\pL]|$)`)

// isAttribution reports whether a sentence introduces what follows it as a quotation.
func isAttribution(sentence string, after []string) bool {
	colon := endsInColon(sentence)
	isBare := !colon && strings.ContainsRune(sentence, '@') && wroteLast.MatchString(sentence)
	isRuled := strings.HasPrefix(sentence, "--") && strings.HasSuffix(sentence, "--")
	marked := isQuoted(nextLine(after))
	if len(sentence) < 10 || !colon && !isBare && !isRuled && !marked {
		return false
	}
	if zoho.MatchString(sentence) && wrote.MatchString(sentence) && moment.MatchString(sentence) {
		return true
	}
	says, dated := wrote.MatchString(sentence), moment.MatchString(sentence)
	addressed := mailAddress.MatchString(sentence)
	switch {
	case colon && says && (addressed || marked),
		colon && says && dated && (startsQuote.MatchString(sentence) || datedFirst.MatchString(sentence) ||
			datedLast.MatchString(sentence)):
		return true
	case (colon || isBare) && dated && addressed:
		return true
	}

	return !colon && marked && says && dated && len(sentence) < 200
}

// endsInColon reports whether a sentence ends in a colon, which marks of the direction of a text may follow.
func endsInColon(sentence string) bool {
	sentence = strings.TrimRight(sentence, "\u200e\u200f\u202a\u202b\u202c ")
	return strings.HasSuffix(sentence, ":") || strings.HasSuffix(sentence, "：")
}

var (
	// wroteLast matches a sentence whose colon the program leaves out.
	wroteLast = regexp.MustCompile(`(?i)(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|geschreven|` +
		`skrev|kirjoitti|napisał|` +
		`написал|napsal)$`)
	datedFirst = regexp.MustCompile(`^.{0,12}\d.{0,40}\d`)
	datedLast  = regexp.MustCompile(`\d.{0,12}$|\d{1,2}[:.]\d{2}.{0,40}$`)
)
