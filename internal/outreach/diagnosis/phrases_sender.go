package diagnosis

// senderPhrases are what servers say of the mailbox that sends, its account, its domain and its server.
var senderPhrases = []phrase{
	{about: Sender, reason: SendingLimit, words: anyOf(
		// a limit, and the time that it is for
		`(daily|hourly|monthly|weekly|24[ -]?hours?|per[ -](day|hour|month)|today|each day|a day) ?.{0,60}`+
			`(limit|quota|maximum|allowance|exceed|allowed|\bcap\b)`,
		`(limit|quota|maximum|max|allowance|exceed\w*|too many).{0,80}`+
			`(per[ -](day|hour|month)|daily|hourly|24[ -]?hours?|\ba day|an hour|today|this hour|in one (day|hour)`+
			`|last (hour|day))`,
		`(messages?|e?-?mails?|recipients?|sends?)/(day|hour|h|d|min)`,
		// a limit of sending
		`(sending|send|sent|outgoing|outbound|submission|smtp|relay|recipient rate|message rate|mailing|e-?mail `+
			`sending|`+
			`mail send|message submission|transaction)( \w+)? (limits?|quotas?|allowance|credits?|threshold)`,
		`(limits?|quotas?|threshold) (of|for|on) (sending|outgoing|outbound|sent|the number of (messages|e?-?mails`+
			`|recipients))`,
		`limit for sending`, `(reached|hit|exceed\w*) (a|an|your|the|its|our|their)? ?(\w+ ){0,3}(sending|message`+
			`|e?-?mail|`+
			`recipient|outgoing|account|plan|package) (limit|quota|threshold|allowance)`,
		`(maximum|max) (number of )?(credits|messages|e?-?mails|mails|recipients|sends)[ \w]{0,30}(exceeded|reached)`,
		`(too many|maximum) (messages|e?-?mails|mails|recipients) (sent|have been sent|already)`,
		`(credits?|balance|plan|subscription|trial|package)( \w+){0,3} (exceeded|exhausted|expired|used up`+
			`|insufficient|limit)`,
		`(insufficient|out of|no|not enough) (remaining )?(e-?mail |sending )?credits?`, `tenant (has )?exceeded`,
		`max(imum)? (defers and failures|emails? per)`, `message quota exceeded`, `recipient limit exceeded`,
		`(tages|stunden|versand)(-)?(limit|kontingent)`, `limite (d'envoi|de env[ií]o|di invio)`,
		`exceeded (the |your |its )?(rate )?(limit|quota) (of|for) (outgoing|sent|sending)`, `over(-| )?(sending`+
			`|message)[ -]quota`,
		`hostinger_out_ratelimit`, `\bmail send limit exceeded`, `sending (limits?|quota) (exceeded|reached)`,
	), unless: anyOf(`receiv`, `message size|size limit|too large|too big`, `storage|disk|mailbox (is )?full|inbox`,
		`recipients (per|in (a|one|this|each)) (message|mail|e-?mail|transaction|session|connection)`,
		`(have|has) (not )?been (delivered|retried)`, `retry timeout`, `\b\d+ (hours?|days?) (old|in the queue)`,
		`(queue|undelivered|delivery attempts?|trying|retr(y|ies|ying))`)},
	{about: Sender, reason: SendingRate, temporary: true, words: anyOf(
		`too many (\w+ ){0,3}`+
			`(connections?|sessions?|requests|logins?|attempts|auth\w*|commands|messages|mails|e-?mails|errors`+
			`|threads)`,
		`rate[ -]?(limit|control|exceeded)`, `rate-?limited`, `ratelimit`, `throttl`, `(sending )?rate exceeded`,
		`sending (mail |messages |e-?mails? )?(too (fast|quickly|much|many)|at a (high|too high) rate)`,
		`too (fast|quickly|frequent)`, `(connection|session|thread)s? (rate |count )?(limit|quota)`,
		`(concurrent|simultaneous|parallel) (\w+ )?(connections?|sessions?|threads?|deliver)`, `slow down`,
		`(maximum|max) (number of )?(\w+ )?(connections|sessions|threads)`, `sending velocity`, `frequency limited`,
		`unusual rate`, `excessive (connections?|volume|rate|mail)`, `volume (limit|too high)`,
	), unless: anyOf(`receiv`, `unsolicited`)},
	{about: Sender, reason: Unauthenticated, words: anyOf(
		`not accepted for policy reasons`, `\bdmarc\b`, `\bspf\b`, `\bdkim\b`, `sender policy `+
			`framework`, `domainkeys`, `sender[ -]id\b`,
		`(sender|message|mail|e-?mail|domain|from header) (is |was |isn't |not )?unauthenticated`,
		`unauthenticated (e-?mail|mail|messages?|sender) (from|is|are)`,
		`(required|meet|minimum|lacks?|without|fail\w*|pass) .{0,40}(authentication (level|requirements?|checks?`+
			`|information)|authenticated)`,
		`authentication (level|requirements|checks? fail)`, `domain .{0,60}(unverified|not (been )?verified|is not `+
			`verified)`,
		`requires? (dns|domain) (configuration|verification)`, `unregistered domain`, `(verify|validate) your domain`,
		`sandbox subdomains`,
	), unless: anyOf(`failed to authenticate (with|to) the`)},
	{about: Sender, reason: NotAllowed, words: anyOf(
		`send ?-?as ?-?denied`, `not (allowed|permitted|authori[sz]ed|entitled|able) to (send|use|submit)( \w+){0,3} `+
			`(as|from|using|with|on behalf)`,
		`permissions? to (send|use) (as|on behalf|this (sender|from))`, `permissions? to send as`,
		`(not|isn't|aren't) owned by`, `not (one of )?your (own )?(e-?mail )?address`,
		`(sender|envelope|from|return[ -]?path|originator)('?s)?( e?-?mail)?( address| domain| header| identity| `+
			`field)? ?`+
			`(<address> ?)?:? ?(is |was |has been |does |did |must |address )?(not |in|un|rejected|refused|denied`+
			`|mismatch|`+
			`forged|spoof|bad|don't|doesn't|misused|incorrect|must|banned)`,
		`(sender|from|return[ -]?path) (<address>|address|domain|header|identity|e-?mail)( \w+){0,4} (not|unknown`+
			`|invalid|`+
			`rejected|refused|denied|mismatch|must|forbidden|unverified|doesn't|couldn't|unresolvable|does not)`,
		`(e-?mail address|identity|sender|from address|<address>) (is |are |has |was )?(not|un) ?(been )?-?`+
			`(verified|validated|confirmed|authori[sz]ed)`,
		`identit(y|ies) failed the check`, `(is not|isn't) (a|an|your|one of your) (\w+ )?(sender|verified`+
			`|confirmed)`, `verified sender|sender (signature|identity) (not|is not|was not|could not)`, `no `+
			`sender signature`,
		`(not|doesn't|does not|didn't|must|should|has to|to) match (a verified|the|your|with|any of|an) ?(\w+ ?){0,4}`+
			`(authenticated|login|logged|user|account|credentials|sender|address|identit)`,
		`(does not|doesn't|don't) belong to (you|the|this|your|authenticated|user)`, `relaying disallowed as`,
		`invalid (sender|from|return[ -]?path|envelope from|mail from)`, `(bad|unknown|unverified|illegal|wrong) `+
			`(sender|from address|return[ -]?path)`,
		`domain of sender`, `sender('s)? (domain|address|host) `, `sender (verif\w+|callout|verify)`,
		`(mail|envelope)[ -]?from .{0,30}(not|must|invalid|denied|rejected|refused)`, `(client|user|account) `+
			`.{0,40}not .{0,20}this sender`,
		`cannot (send|use) .{0,20}(from|as) (this|that|<address>)`, `absender\w* .{0,40}(nicht|ungültig|unzulässig)`,
	), unless: anyOf(`\b(black|block|deny)[ -]?list`, `(spam|dnsbl|rbl|reputation)`, `sender .{0,20}(banned|suspended)`,
		`not (allowed|permitted|authori[sz]ed) to (send|mail|post|write) .{0,20}(to|this (recipient|group|list))`)},
	{about: Sender, reason: AccountBlocked, words: anyOf(
		`bad outbound sender`, `outbound ?spam`, `banned send`, `spam abuse detected`, `sending (\w+ )?(has been `+
			`|is |was |are )?`+
			`(paused|suspended|disabled|blocked|restricted|stopped|shut down)`,
		`(suspended|blocked|restricted|banned|disabled|prevented|barred|locked) (you |temporarily )?(from|for) `+
			`(sending|outgoing|outbound|relay)`,
		`(not|no longer|isn't|aren't) (allowed|permitted|able|authori[sz]ed) to send (any |more |out |e-?)*(mails?`+
			`|messages?|email|anything|\.|$)`,
		`(domain|account|user|tenant|subscription|sandbox|service|customer) .{0,40}(not|no longer|isn't) (allowed`+
			`|permitted|authori[sz]ed|enabled) (to|for) (send|smtp|relay|perform)`,
		`outgoing (mail|messages?|smtp|e-?mails?) .{0,60}(suspended|blocked|disabled|denied|refused|stopped|been)`,
		`(smtp|sending|sender|your|api|sub) ?(account|user|service|access|domain|subscription)( \w+){0,4} `+
			`(suspended|blocked|locked|`+
			`disabled|banned|restricted|terminated|on hold|paused|deactivated|under review|compromised|not (yet `+
			`)?(been )?activ\w+)`,
		`account (is |was |has been )?(compromised|hacked|under review|not (yet )?activ)`,
		`(authenticated|smtp|this sending) (user|sender|account) (is|has been|was) (blocked|banned|suspended`+
			`|disabled|restricted)`,
		`traffic not accepted`, `(unusual|suspicious|abnormal) (\w+ )?(activity|sending|traffic)`, `restricted `+
			`(user|entit|sender)`,
		`sender (has been |is |was )?(banned|suspended|restricted)`, `verify your (account|phone|identity)`,
		`not authori[sz]ed to perform`, `unauthori[sz]ed ip`, `smtp ?(client)?auth(entication)? is disabled`,
		`smtpclientauthentication is disabled`, `smtp (access|service) (is |was |has been )?(disabled|denied|blocked)`,
		`payment (required|overdue)|unpaid|invoice`,
	), unless: anyOf(`\brecipient\b`, `user unknown`)},
	{about: Sender, reason: RelayDenied, words: anyOf(
		`relay(ing)?( access| mail| of mail| to| for)?.{0,40}(denied|not (allowed|permitted|available|supported)`+
			`|prohibited|disallowed|forbidden|refused|rejected|restricted|blocked|disabled)`,
		`(unable|not (allowed|permitted|authori[sz]ed|willing)|cannot|can't|can not|do(es)? not|don't|won't|will `+
			`not|denied|no|refuse\w*|prohibited|illegal|unauthori[sz]ed|open) .{0,20}relay`,
		`not (an? )?(open )?(gateway|relay)`, `rcpthosts`, `credentials for relay`, `relay not`, `we do not (accept`+
			`|forward|deliver) mail (for|to) (other|external|foreign|remote)`,
		`(mail|message)s? (for|to) (external|foreign|remote|other) (domain|host|address|recipient)s? .{0,30}(not`+
			`|denied|refused)`, `authentication required (for|to) relay`,
	)},
	{about: Sender, reason: SignIn, words: anyOf(
		`(smtp )?auth(entication|orization)? (is |was )?(required|needed|failed|fails|unsuccessful|credentials`+
			`|error|invalid|rejected|necessary|mandatory|failure)`,
		`(must|please|need to|have to|should|requires?( you to)?|first) (first )?(authenticate|log ?-?in|sign ?-?in`+
			`|login|auth\b|smtp auth|check your mail)`,
		`not authenticated`, `not (been )?logged in`, `(must|please) issue (a )?starttls`, `starttls (is `+
			`)?(required|first)`,
		`(encryption|tls|ssl) (is )?required`, `(web|your) browser`, `app(lication)?[ -]specific password`, `app `+
			`password`,
		`user ?name (and|or|/) ?password`, `(login|log-in|sign-?in) (is )?(denied|failed|required|incorrect`+
			`|invalid)`, `pop (before|b4) smtp`,
		`anonymous (mail|users?|client|submission|access|sending)`, `(bad|wrong|invalid|incorrect|missing) (user `+
			`?name|password|credentials|login|auth)`,
		`credentials (invalid|rejected|expired|incorrect)`, `(expired|revoked|invalid) (access )?token`, `mailbox `+
			`login`,
		`basic authentication is disabled`,
	), unless: anyOf(`recipient`)},
	{about: Sender, reason: Reputation, words: reputationWords},
}

// lists are the names of lists of senders.
const lists = `spamhaus|spamcop|spam-?rats|sorbs|barracuda ?(central|reputation|networks)?|uceprotect|invaluement` +
	`|cloudmark|` +
	`proofpoint|abusix|mailspike|senderscore|truncate|psbl|backscatter|manitu|lashback|nixspam|hostkarma|dnswl|cbl\b|` +
	`abuseat|surriel|ivmsip|mcafee|trend ?micro|cisco|talos|dnsbl\w*|\brbl\w*|\bsbl\b|\bxbl\b|\bpbl\b`

var reputationWords = anyOf(
	`reputation`, `(black|block|deny|bad|spam)[ -]?list(ed|ing|s)?\b`,
	`(blocked|listed|rejected|refused|denied|found|banned|due to|because|see|using|by|in|at|on) .{0,60}(`+lists+`)`,
	`(`+lists+`)[\w.: ]{0,40}(block|list|reject|refus|den|bann)`,
	`client host .{0,80}(blocked|rejected|denied|refused)`, `banned sending ip`, `(block|deny|spam) ?-?list`,
	`(your|sending|client|source|connecting|remote|this|sender'?s?) (ip|server|host|network|isp|mail ?server|mta`+
		`|address|domain|country)\b.{0,100}`+
		`(block|reject|denied|not allowed|not permitted|banned|listed|refus|poor|bad|spam|dynamic|prohibit`+
		`|forbidden|invalid|unacceptable|unwelcome)`,
	`\bip( address)?\b.{0,60}(blocked|rejected|denied|banned|listed|refused|dynamic|residential|not allowed|bad`+
		`|poor|spam)`,
	`(blocked|rejected|denied|refused|banned|block|reject) .{0,40}\bip\b`, `part of (their|your) network`,
	`(mails?|messages?|e-?mails?|connections?) from .{0,60}(blocked|rejected|not accepted|weren't sent|refused`+
		`|banned|denied|has been temporarily)`,
	`connections? (will not be |not |is not |are not )accepted`, `temporarily deferred`, `unexpected `+
		`volume`, `user complaints`,
	`\bptr\b`, `\br-?dns\b`, `reverse[ -]?(dns|lookup|hostname|host|ip|name|address|resolution)`, `forward[ `+
		`-]confirmed`, `fcrdns`,
	`(cannot|can't|could not|couldn't|unable to|failed to) (find|resolve) (your|the client|client|a reverse) `+
		`?(reverse )?(host ?name|address|name)`,
	`\b(helo|ehlo)\b.{0,80}(reject|invalid|denied|refus|not|fail|mismatch|forged|spoof|bad|require)`, `(reject`+
		`|invalid|denied|refus|bad|bogus|forged)\w* .{0,30}\b(helo|ehlo)\b`,
	`(dynamic|dial-?up|residential|generic|consumer) .{0,30}(ip|address|host|ptr|rdns|range|pool|line)`,
	`unsolicited (mail|email|messages) originating from`, `server access .{0,40}forbidden`, `(sender|client|host) `+
		`.{0,20}(blocked|blacklisted|blocklisted|banned)`,
	`not (been )?(white|allow)[ -]?listed`, `poor (sender|sending|domain|ip)`, `spam (source|sender|server|network)`,
	`no (smtp )?(service|smtp) (here|for you)|does not accept (mail|connections) from you`, `has been (block`+
		`|blacklist)ed (by|from)`,
	`blocked (using|by our|at this)`, `access from ip`, `mail from ip`, `(country|geo)[ -]?block`,
)
