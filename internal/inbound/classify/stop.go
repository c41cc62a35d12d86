package classify

import (
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// maxStop is the length of the longest text that is read as a request for no more mails.
const maxStop = 200

var (
	stopWords = regexp.MustCompile(`(?:^|[^\pL])(?:` + strings.Join([]string{
		`unsubscribe`, `unsubscribe me`, `opt[- ]?out`, `remove me`, `take me off`,
		`stop (?:emailing|mailing|contacting|sending|writing)`,
		`(?:do not|don't) (?:contact|email|mail|write)(?: to)? me`, `no more (?:e-?mails?|mails)`,
		`abmelden`, `abbestellen`, `austragen`, `keine (?:weiteren )?(?:e-?mails|mails|nachrichten|werbung)`,
		`aus (?:dem|ihrem) verteiler`, `désabonne[rz]?`, `désinscri\pL+`, `me désabonner`,
		`ne (?:m'écrivez|me contactez) plus`, `plus recevoir`,
		`darme de baja`, `dar(?:se)? de baja`, `no me (?:escriban|escriba|envíen|envíe|contacten) más`,
		`no deseo recibir`, `descadastr\pL+`, `remover (?:meu|o meu) e-?mail`,
		`cancelar (?:a )?(?:inscrição|assinatura)`, `não (?:quero|desejo) (?:mais )?receber`,
		`disiscri\pL+`, `cancellami`, `cancellatemi`, `rimuov\pL+`, `non (?:scrivetemi|voglio) più`, `uitschrijven`,
		`afmelden`, `geen (?:e-?)?mails? meer`, `avregistrera`, `avanmäl\pL*`, `ta bort mig`, `afmeld`, `avmeld`,
		`slett meg`, `wypisać`, `wypisz(?:cie)?`, `usuń(?:cie)? mnie`,
		`отписаться`, `отпишите`, `удалите меня`, `не пишите`, `aboneliğ\pL+ iptal`, `listeden çık\pL+`, `odhlásit`,
		`odhlaste`, `peru(?:kaa|a)? tilau\pL+`,
	}, "|") + `)(?:$|[^\pL])`)
	// stopSigns are words of languages without spaces between words.
	stopSigns = regexp.MustCompile(`配信停止|購読解除|退订|退訂|取消订阅|取消訂閱|不要再发|수신 ?거부|구독 ?취소`)
	onlyStop  = regexp.MustCompile(
		`^(?:please |bitte |stop|remove|end|quit|cancel|halt|stopp|arrêt|arret|basta|baja|alto|parar|стоп|` +
			`dur)+[.! ]*$`)
)

// asksToStop reports whether a mail asks for no more mails: it was sent to the address of an unsubscription, or its
// text is short and says so. A longer text may be about something else.
func asksToStop(m *parse.Mail, reply string) bool {
	for _, to := range m.Recipients {
		local, _, _ := strings.Cut(to, "@")
		if strings.HasPrefix(local, "unsubscribe") || strings.HasSuffix(local, "+unsubscribe") {
			return true
		}
	}
	text := strings.ToLower(strings.TrimSpace(reply))
	if text == "" {
		text = strings.ToLower(m.Subject)
		return text == "unsubscribe" || text == "stop"
	}
	if onlyStop.MatchString(text) {
		return true
	}
	first := firstLines(text)
	asks := stopWords.MatchString(first) || stopSigns.MatchString(first)
	return asks && len(first) <= maxStop && !strings.ContainsAny(first, "?？")
}

// firstLines returns a text without its greeting and closing lines.
func firstLines(text string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || greeting.MatchString(line) {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, " ")
}

var greeting = regexp.MustCompile(
	`^(?:hi|hello|hallo|dear|hey|guten tag|bonjour|hola|ciao|olá|regards|best|thanks|thank you|kind regards|` +
		`mfg|viele grüße|cordialement|saludos|saluti|mvh)\b.{0,30}$`)
