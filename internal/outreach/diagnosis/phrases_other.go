package diagnosis

// recipientPhrases are what servers say of the address that a mail is for.
var recipientPhrases = []phrase{
	{about: Recipient, reason: Unavailable, temporary: true, words: anyOf(
		`(mailbox|user|account|recipient|address|inbox)\b.{0,40}(temporarily|currently|momentarily|at this time`+
			`|for now|busy|in use|locked by)`,
		`temporar(y|ily) .{0,30}(mailbox|user|account|recipient|unavailable|disabled|suspended)`,
		`you may not have permission to post|permission to (post|send|mail|e-?mail|contact)`,
		`not (accepting|accept) (mail|messages|e-?mails?) (from|at this time)`,
		`all recipient addresses rejected`, `(only|not) (accept|allow)\w* (mail|messages|e-?mails?|senders?) from`,
		`(restricted|private|closed|internal|members?[ -]only|moderated) (recipient|group|list|mailbox|distribution`+
			`|address)`,
		`not (allowed|permitted|authori[sz]ed) to (send|mail|post|write|deliver|e-?mail)\b.{0,30}(recipient|group`+
			`|list|address|mailbox|user|<address>)`,
		`(sender|you) (is |are )?not (allowed|permitted|authori[sz]ed)`, `unverified address`, `address `+
			`verification in progress`,
		`mailbox (is )?(unavailable|not available).{0,40}(try|later|again|busy)`,
		`(greater|more) than .{0,20}undeliver`, `access (to .{0,20})?denied for this recipient`,
	), unless: anyOf(`(no such|unknown|invalid) (user|recipient|address|mailbox)`, `(user|recipient|address`+
		`|mailbox) (unknown|not found|invalid)`,
		`does(n't| not) exist`, `no longer`)},
	{about: Recipient, reason: Suspended, temporary: true, words: anyOf(
		`(mailbox|user|account|recipient|address|domain|customer)\b.{0,30} (suspended|on hold|blocked|locked|frozen`+
			`|over ?due|deferred)`,
		`suspended (mailbox|user|account|recipient)`,
	), unless: anyOf(`(no such|unknown|invalid) (user|recipient|address|mailbox)`, `does(n't| not) exist`)},
	{about: Recipient, reason: Closed, words: anyOf(
		`(mailbox|user|account|recipient|address|email|e-mail|customer|employee|person|<address>)\b.{0,40} `+
			`(disabled|inactive|closed|deleted|`+
			`deactivated|terminated|discontinued|expired|removed|cancell?ed|retired|not active|not enabled|has `+
			`(left|moved))`,
		`(disabled|inactive|closed|deleted|deactivated|expired|discontinued|dormant|abandoned) (mailbox|user`+
			`|account|recipient|address|customer|e-?mail)`,
		`(is|has been|was) (disabled|discontinued|deactivated|abandoned)`, `no longer (valid|exists?|works?|with`+
			`|on (this )?server|available|active|in use|used|`+
			`employed|accept|monitored|associated|has|part|here|a customer|maintained|supported)`,
		`(has|have) moved (to|and)|mailbox has moved|user has moved|moved permanently`, `left the (company`+
			`|organi[sz]ation|firm)`,
		`dd (sorry|requested)`, `account that you tried to reach is (disabled|inactive)`,
	), unless: anyOf(`(message|envelope) .{0,20}expired`, `delivery .{0,20}expired`, `relay|queue`)},
	{about: Recipient, reason: NoSuchAddress, words: anyOf(
		`(user|recipient|account|addressee|mailbox|address|login|alias|member|name|local ?part|destination|customer`+
			`|subscriber|domain|host)( name| address| id|s)?`+
			`(:| is| was| are|,| -)?( currently| <address>| \(<address>\)| \S+@\S+)? ?(unknown|not (be )?(found`+
			`|known|valid|exist|listed|recogni[sz]ed|registered|present|`+
			`local|here|defined|hosted|deliverable|recognised|identified|on this)|invalid|undefined|nonexist`+
			`|non-exist|unrecogni[sz]ed|undeliverable|unroutable|`+
			`unrouteable|doesn't exist|couldn't be found|could not be (found|resolved|verified|validated`+
			`|identified)|wasn't found|did not exist|cannot be found|can't be found|`+
			`not in (the |our |this )?(directory|system|server|database|list)|does not exist|not exist)`,
		`(unknown|no such|invalid|non-?existent|unrouteable|unroutable|undeliverable|bad|wrong|incorrect`+
			`|nonexisting|undefined|illegal|no valid|no local|unresolvable|unrecogni[sz]ed) `+
			`(\w+ ){0,2}(user|recipient|account|addressee|mailbox|address|person|alias|customer|local[ -]?part`+
			`|destination|domain|host|subscriber|member|login|name|e-?mail|forward)`,
		`does(n't| not) (currently )?(exist|have an? .{0,40}(account|mailbox|address)|like recipient`+
			`|match)`, `do(es)? not have an account`, `not a (valid|known|local|current|registered|deliverable) `+
			`(\w+ )?`+
			`(mailbox|recipient|user|address|account|customer|domain|e-?mail|member|subscriber)`,
		`is not (a )?(known|valid|recogni[sz]ed|registered|our|listed|hosted|deliverable)`, `recip(ient)?not `+
			`?found`, `not (listed|found) in`, `no mailbox (here|by|with|found|exists|for|at)`, `no (user|account`+
			`|mailbox|one|recipients?|person) (by|with|under|of|named|here|at|found|matching|called)`,
		`(this|such|that|the) (user|address|recipient|mailbox|account|person|e-?mail|domain)( \w+)? (doesn't|does `+
			`not|isn't|is not|can't|cannot) (\w+ )?(exist|here|hosted|valid|found|receive|local|deliver|listed|accept)`,
		`not our customer`, `unknown in (local|virtual|relay|the)`, `user .{0,30}not .{0,10}(found|known|exist`+
			`|listed|hosted)`, `there is no (one|such|user|mailbox|account)`,
		`mailbox (is )?(unavailable|not available)`, `recipient (address )?rejected: ?(<address> ?)?(user`+
			`|undeliverable|access denied|unknown|invalid|mailbox|address|no such|recipient|not found|<address>`+
			`|domain)`,
		`^(\d{3} )?(\d\.\d\.\d+ )?<address>:? ?(recipient address rejected|address rejected|recipient rejected`+
			`|rejected|unknown|user|invalid|no such|not found)\.?( \(.*\))?$`,
		`^\W*(recipient )?address rejected\W*$|^\W*recipient rejected\W*$`, `recipient address rejected\.? ?(\(in `+
			`reply.*)?$`, `(couldn't|could not|can't|cannot|unable to) (find|locate|look ?up|resolve) (any |the |a `+
			`|your |remote )?(host|user|domain|recipient|mailbox|address|mx|destination|name|receiv)`,
		`no such (host|domain|name)|nxdomain`, `(host|domain|name)( name)? (or domain name )?(not found|unknown`+
			`|does not exist|has no|lookup fail\w*: (host|domain|name))`,
		`null ?mx`, `indicated no smtp service`, `host \S+ not found`, `no mx found`, `name or service not `+
			`known`, `(account or )?domain .{0,60}(does not|may not exist|does not (accept|receive|exist)|doesn't `+
			`(accept|exist)|has no (mx|mail|valid|smtp)|never (accepts|receives)|not reachable|is (not valid|invalid))`,
		`host does not accept mail`, `(no|not any) (mx|mail exchanger|mail servers?|valid mx)\b`, `bad (destination`+
			`|recipient)`, `unable to find (the )?recipient`, `retrieve (the )?recipient`, `delivery to this `+
			`address (is )?(not allowed|restricted)`,
		`invalid user address|invalid final delivery userid|bad-?mailbox`, `user (unavailable|rejected)`, `not a `+
			`member`, `no (valid )?recipients (were )?found`, `name is not recogni[sz]ed`,
		`e-?mail address (you entered|could not be found|couldn't be found|was not found|is incorrect)|email `+
			`account that you tried to reach`, `check the (recipient|address|spelling)`,
		`misspelled|mistyped|spelled incorrectly|wrong e-?mail`, `utilisateur inconnu`, `(adresse|destinataire`+
			`|bo[iî]te|compte) .{0,40}(inconnu|n'existe pas|introuvable|invalide)`, `(empfänger|benutzer|adresse`+
			`|postfach|teilnehmer|mailbox) .{0,40}(unbekannt|existiert nicht|nicht gefunden|ungültig|nicht `+
			`vorhanden|nicht bekannt)`,
		`(destinatario|usuario|cuenta|direcci[oó]n|buz[oó]n) .{0,40}(desconocid|no existe|no encontrad|inválid`+
			`|inexistente)`, `(utente|destinatario|indirizzo|casella) .{0,40}(sconosciut|inesistente|non esiste`+
			`|non trovat)`,
		`(usu[aá]rio|destinat[aá]rio|endereço|conta|caixa) .{0,40}(desconhecid|inexistente|não existe|não encontrad`+
			`|inválid)`, `(gebruiker|ontvanger|adres|postbus) .{0,40}(onbekend|bestaat niet|niet gevonden|ongeldig)`,
		`(użytkownik|adresat|odbiorca|konto|skrzynka) .{0,40}(nie istnieje|nieznan|nie znalezion)`, `(пользователь`+
			`|адрес|ящик|получатель|учётная запись) .{0,40}(не существует|не найден|неизвест`+
			`|недействит)`, `(användare|mottagare|bruger|modtager|mottaker) .{0,40}(okänd|ukendt|finns inte|findes `+
			`ikke|finnes ikke|ukjent)`,
		`ユーザー?.{0,20}(存在しません|見つかりません|不明)|宛先.{0,20}(存在しません|見つかりません|不明)|アドレス.{0,20}(存在しません|見つかりません)`, `(用户|收件人|邮箱|帐号`+
			`|账号|地址).{0,12}(不存在|未找到|无效)|(使用者|收件者|信箱).{0,12}(不存在|找不到)`, `존재하지 않|수신자.{0,10}(없|찾을 수)`,
	), unless: anyOf(`mfsmax\.docomo`, `malformed or unexpected name server`, `try again later`, `(name|dns`+
		`|domain) .{0,40}(temporar|timeout|try again)`)},
}

// messagePhrases are what servers say of the mail.
var messagePhrases = []phrase{
	{about: Message, reason: TooLarge, words: anyOf(
		`(message|mail|e-?mail|size|data|content|attachment|body|header)s? .{0,30}(too (large|big|long)|exceed\w*`+
			`|larger than|bigger than|over the)`,
		`too (large|big) (message|mail|e-?mail)?`, `(message|mail|size|maximum|max) (size )?(limit`+
			`|maximum)`, `size (limit|exceeds|violation|of the message)`,
		`exceed\w* .{0,30}(size|maximum|limit)`, `maximum .{0,20}size`, `message length`,
	), unless: anyOf(`temporar`, `connection`)},
	{about: Message, reason: Content, words: anyOf(
		`\bspam\w*`,
		`virus`, `malware`, `phish`, `trojan`, `worm\b`, `infected`, `unsolicited`,
		`\bu[cb]e\b`, `bulk mail`, `junk`, `content`, `polic(y|ies)`,
		`attachment`, `executable`, `suspicious`, `profan`, `banned (file|word|content`+
			`|phrase)`, `blocked`, `prohibited`, `restricted`, `administrative`, `abus(e|ive)`,
		`(message|mail|e-?mail|transaction|data|delivery) (was |is |has been |content )?(refused|rejected|denied`+
			`|blocked|declined|not accepted|discarded)`,
		`rejected (due to|because|for|by)`, `not (authori[sz]ed|permitted|allowed)`, `access denied`, `\burls?\b`+
			`|\blinks?\b`, `filter`, `firewall`, `greeting`, `score`,
		`security`, `unacceptable`, `similar to`, `complaint`, `identical|duplicate`, `refused by|refuses? (to `+
			`accept|your|this)`, `cannot accept (this|your) (message|mail)`,
		`message bloqué`,
		`abgelehnt`, `rejeté|refusé`, `rechazad`, `rifiutat`, `recusad`, `geweigerd`, `odrzucon`, `отклонен`,
	), unless: anyOf(`greylist|graylist`, `temporar\w+ (failure|problem|error)`, `content-type`)},
	{about: Message, reason: Malformed, words: anyOf(
		`(missing|invalid|bad|malformed|duplicate|multiple|illegal) .{0,30}(header|from|date|message-?id|subject`+
			`|line|syntax|mime|format|command)`, `rfc ?\d{3,4}`, `syntax error`, `protocol (error|violation)`,
		`bare (lf|cr)`, `line too long`, `8[ -]?bit`, `smtputf8`, `non-ascii`, `command (not|unrecogni)`, `bad `+
			`sequence`, `too many recipients`, `recipients (per|in)`,
	)},
}

// networkPhrases are what servers say of the way to the recipient.
var networkPhrases = []phrase{
	{about: Network, reason: Greylisted, temporary: true, words: anyOf(`gr[ea]y ?-?list`, `postgrey`, `come back `+
		`(later|in)`, `retry (later|in a)`, `first time`)},
	{about: Network, reason: Loop, temporary: true, words: anyOf(`\bloop`, `too many hops`, `hop count`, `mail `+
		`forwarding`)},
	{about: Network, reason: NoRoute, temporary: true, words: anyOf(
		`timed? ?-?out`, `timeout`, `connection (was )?(refused|reset|lost|dropped|closed|died|fail|abort|broken`+
			`|could not|error)`, `(couldn't|could not|unable to|cannot|can't|failed to|wasn't able to) (connect`+
			`|establish|open|contact|reach)`,
		`unreachable`, `name service error`, `name server`, `no route`, `(host|domain|name|server|dns|mx) `+
			`.{0,40}(not reachable|lookup|look-up|no response|not respond|down|malformed|unexpected)`, `network `+
			`(error|problem|is)`, `i/o error`, `retry time`,
		`(expired|too long|too old|time limit|lifetime|maximum time|give up|giving up|gave up|days?`+
			`|hours?).{0,40}(queue|deliver|attempt|message|retr)|(queue|deliver\w*|message|retr\w*) .{0,40}(expired`+
			`|too long|too old|time limit|giving up)`, `broken pipe`, `no (answer|reply|response)`, `tls|ssl`+
			`|certificate|handshake|starttls`, `dns (error|failure|problem)`, `server configuration`,
		`not accepting (network )?(messages|mail|connections)`, `service (is )?(un|not )?available`, `deferr`, `in `+
			`the queue`,
	)},
	{about: Network, reason: Busy, temporary: true, words: anyOf(
		`busy`, `overload`, `load (is )?(too )?high`, `resources? `, `out of memory`, `system (full|resources`+
			`|storage|busy|error|failure|problem|not)`, `try (again|later|it)`, `temporar`, `later`, `unable to `+
			`lock`, `not available`, `try again`,
		`(internal|local|server|configuration|processing|unexpected|general|transient|i/o|disk|database|lookup`+
			`|mail system) (error|failure|problem)`, `error in processing`, `maintenance`, `shutting down`, `queue`,
	)},
}
