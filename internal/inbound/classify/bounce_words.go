package classify

import (
	"regexp"
	"strings"
)

// The words of notices about mails that were not delivered, and of what they quote.
var (
	bounceSubject = regexp.MustCompile(strings.Join([]string{
		`undeliver`, `failure notice`, `delivery (status notification|failure|failed|notification|report|has failed)`,
		`mail delivery (failed|failure|problem|error|system)`, `returned mail`, `returned to sender`,
		`mail could not be delivered`,
		`message (not|could not be) delivered`, `could(n't| not) be delivered`, `nondeliverable`, `delivery delayed`,
		`mail failure`, `delay(ed)? mail`, `still being retried`, `warning: (message|could not send)`, `non remis`,
		`unzustellbar`, `nicht zugestellt`, `zustellung fehlgeschlagen`, `échec de (la )?remise`,
		`no se puede entregar`,
		`no entregado`, `mancato recapito`, `non recapitabile`, `não foi (possível )?entreg`, `não entregue`,
		`onbestelbaar`, `kan inte levereras`, `nie można dostarczyć`, `недоставлен`, `не доставлен`, `配信不能`,
		`無法傳遞`, `退信`, `전송할 수 없`, `teslim edilemedi`, `message bloqué`, `delivery incomplete`, `user ` +
			`unknown`, `non-?delivery`, `mail failed`, `returning (message )?to sender`,
		`не доставлено`, `could not send`, `delivery error`, `processing error`,
	}, "|"))
	bounceText = regexp.MustCompile(strings.Join([]string{
		`this is the qmail-send program`, `could not be delivered`, `couldn't be delivered`, `was(n't| not) delivered`,
		`wasn't able to deliver`, `unable to deliver`, `delivery (to|has|of|failed|attempt)`, `undeliver`,
		`permanent (fatal )?error`, `permanent failure`, `user unknown`, `address(es)? (failed|not found)`,
		`running the courier mail server`, `message blocked`, `this is the mail system at host`, `could not deliver`,
		`mail delivery software`, `returned to you`, `recipient address rejected`, `has not (yet )?been delivered`,
		`not listed in`, `no such user`, `temporary (problem|error|failure)`, `transient (non-)?fatal errors?`,
		`will (be retried|keep trying|continue|retry)`, `has been delayed`, `delivery error`, `mailbox unavailable`,
		`kunne ikke leveres`, `konnte nicht zugestellt`, `nicht zugestellt`, `n'a pas (pu être|été) (remis|distribué)`,
		`no se (ha )?(pudo|podido) entregar`, `impossibile recapitare`, `não pôde ser entregue`,
		`niet (worden )?bezorgd`,
		`не (может быть|было|удалось) достав`, `配信できませんでした`, `無法傳遞`, `\b55[0-9][ -]`, `smtp error`, `did not ` +
			`reach`, `(has been|was|been) returned`,
		`returned mail follows`, `(failed|following) addresses`, `unknown host`, `transcript of session follows`,
		`error (was encountered|delivering|while (attempting|delivering))`, `permanent delivery errors`, `could ` +
			`not be (sent|processed)`,
		`no such user`, `not delivered`, `non-delivery report`, `n'a pas pu etre`, `не может быть доставлено`,
	}, "|"))
	stillTrying = regexp.MustCompile(strings.Join([]string{
		`will be retried`,
		`(has|have) not (yet )?been delivered (yet|after|to)?.{0,400}(no action|will continue|will keep|retr)`,
		`delivery (to the following recipients? )?(has been )?delayed`, `message delayed`, `still being retried`,
		`delayed mail`, `gmail will (keep trying|retry)`,
		`will (keep trying|continue trying|continue to try|keep retrying)`,
		`you do not need to resend`, `this is a warning message only`, `warning: could not send message`,
		`warning: message .{0,40}delayed`, `delivery incomplete`, `status notification \(delay\)`,
		`noch nicht zugestellt`, `(delivery )?attempts will continue`, `still (trying|attempting|in the queue)`,
		`only a temporary failure`, `(is|has been) delayed (for|by)`, `delayed \d+ hours?`, `(delivery|retry` +
			`|retries|attempts?) .{0,60}(will|to) (continue|be made|be retried)`,
		`(continue|keep)(s|d)? (to try|trying|attempting)`, `temporar\w+ (delayed|deferred)`, `(pas|non) encore ` +
			`(été )?(remis|livré|distribué)`,
		`(weiter|erneut) versuch`, `zustellung (ist |wurde |wird )?verzögert`, `(retraso|retrasad|demora) (en|de) ` +
			`(la )?entrega`,
		`ritard(o|ata) .{0,20}(consegna|recapito)`, `vertraagd`, `opóźnion`, `задерж`, `配信が遅れ|遅延`, `延迟|延遲`,
	}, "|"))
	below = regexp.MustCompile(`(?im)^(-{2,} ?(below this line is a copy|this is a copy of|the body of the message|` +
		`original message|the original message|unsent message|message header follows|returned message|` +
		`included is a copy).*|--- ?enclosed.*|(return-path|received): .*)$`)
	addressed = regexp.MustCompile(`[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`)
	replied   = regexp.MustCompile(`(?i)\b([45]\d\d)[ \-#:]+\(?#?(?:([245]\.\d{1,3}\.\d{1,3})\b)?`)
	coded     = regexp.MustCompile(`(?:\(#?|#|\s|^|')([45]\.\d{1,3}\.\d{1,3})\b`)
)
