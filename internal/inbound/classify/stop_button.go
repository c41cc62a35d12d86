package classify

import (
	"regexp"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// isUnsubscribeMail reports whether a mail program has sent the mail for the button with which its user unsubscribes:
// to the address for it, or with nothing but the request.
func isUnsubscribeMail(m *parse.Mail, a *Answered, reply string) bool {
	for _, to := range m.Recipients {
		local, _, _ := strings.Cut(to, "@")
		if buttonAddress.MatchString(local) {
			return !isBounceOrAway(m, a)
		}
	}
	words, _ := ownWords(m, a)
	words = fold(strings.Trim(words, " .!:"))
	text := fold(strings.Join(strings.Fields(withoutFooters(reply)), " "))
	switch {
	case m.Header.Has("X-Apple-Unsubscribe"):
		return true
	case buttonText.MatchString(text):
		return buttonSubject.MatchString(words) || len(text) <= maxStop && strings.Contains(text, "unsubscribe")
	}

	return buttonSubject.MatchString(words) && (text == "" || buttonSubject.MatchString(strings.Trim(text, " .!:")))
}

// isBounceOrAway reports whether a mail to the address of an unsubscription is itself the answer of a program.
func isBounceOrAway(m *parse.Mail, a *Answered) bool {
	words, _ := ownWords(m, a)
	return m.ReportType != "" || len(m.Statuses) > 0 || namesProgram(words)
}

var (
	buttonAddress = regexp.MustCompile(`^(?:list-?)?(?:unsub(?:scribe)?|optout|opt-out)\b|\+(?:unsub(?:scribe)?|` +
		`optout)\b|-unsubscribe$|^leave-`)
	// buttonSubject matches the subject that List-Unsubscribe proposes, with the token of the mail.
	buttonSubject = regexp.MustCompile(`^(?:unsubscribe|unsubscribe (?:me|request)|unsub|list-unsubscribe|` +
		`opt[- ]?out|remove|abmelden|abmeldung|abbestellen|` +
		`desinscription|se desinscrire|desabonnement|se desabonner|baja|darse de baja|cancelar (?:la )?suscripcion|` +
		`disiscrizione|annulla iscrizione|` +
		`cancelar (?:a )?(?:inscricao|subscricao)|descadastrar|uitschrijven|afmelden|avregistrera|` +
		`avsluta prenumeration(?:en)?|afmeld|avmeld|` +
		`wypisz|rezygnacja|отписка|отписаться|abonelikten cik|配信停止|退订|取消订阅|수신 ?거부)` +
		`(?:[ :=-]+[a-z0-9_+/=.@:-]{6,})?$`)
	// buttonText matches what mail programs write into such a mail.
	buttonText = regexp.MustCompile(`^(?:this (?:message|e-?mail) was automatically (?:generated|sent) by \w+|` +
		`apple mail sent this e-?mail to unsubscribe|` +
		`this (?:is an automatic(?:ally generated)?|automated) (?:message|e-?mail|unsubscribe request)|` +
		`\w+(?: \w+)? (?:has )?sent this (?:message|e-?mail) to unsubscribe|` +
		`(?:please )?unsubscribe (?:me|this address|[a-z0-9._%+-]+@[a-z0-9.-]+) from|` +
		`diese nachricht wurde automatisch von \w+ (?:generiert|erstellt|gesendet)|` +
		`ce message a ete (?:genere|envoye) automatiquement par|este mensaje (?:ha sido|` +
		`fue) generado automaticamente por|` +
		`apple mail hat diese|apple mail a envoye|apple mail ha enviado)`)
)
