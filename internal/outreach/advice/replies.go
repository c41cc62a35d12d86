package advice

// Actions.
const (
	wrongPassword = "Enter the current user name and password, then test the mailbox. The user name mostly is " +
		"the whole " +
		"address; accounts with a second factor need an app password."
	googleAppPassword = "Create an app password at https://myaccount.google.com/apppasswords and enter it here " +
		"without " +
		"blanks, or connect the account and use a mailbox of kind google."
	yahooAppPassword = "Create an app password in the security settings of the account and enter it here in " +
		"place of the " +
		"password."
	microsoftOAuth = "Connect the account and use a mailbox of kind microsoft: Microsoft takes no passwords of mail " +
		"programs any more."
)

// replies tell by the words of a server what to do. The first one counts. anywhere: not only at the sign-in.
var replies = []struct {
	words    []string
	action   string
	anywhere bool
}{
	{
		words: []string{
			"application-specific password required", "invalidsecondfactor", "5.7.9 application-specific",
			"support.google.com/accounts/answer/185833", "support.google.com/mail/?p=invalidsecondfactor",
		},
		action: googleAppPassword,
	},
	{
		words: []string{
			"weblogin", "log in via your web browser", "log in with your web browser", "please log in via",
			"webloginrequired", "5.7.14",
		},
		action: "Sign in to the account in a web browser and confirm that it was you, or use an app password, " +
			"then test the " +
			"mailbox.",
	},
	{
		words:  []string{"badcredentials", "username and password not accepted"},
		action: "Check the user name. Google takes an app password and not that of the account: " + googleAppPassword,
	},
	{
		words: []string{"smtpclientauthentication is disabled", "smtp_auth_disabled", "aka.ms/smtp_auth_disabled"},
		action: "Let an administrator of Microsoft 365 allow authenticated SMTP for this mailbox, or connect " +
			"the account and " +
			"use a mailbox of kind microsoft.",
	},
	{
		words: []string{
			"basic authentication is disabled", "basicauthblocked", "basic authentication is not", "5.7.139",
			"security defaults policy", "modern authentication", "aadsts",
		},
		action: microsoftOAuth,
	},
	{
		words: []string{
			"application password is required", "application password required", "app password", "app-specific " +
				"password",
			"application-specific", "app specific password", "application specific password", "generate a password",
			"password for external application", "passwort für externe", "mot de passe " +
				"d'application", "parol prilozheniya",
			"use application password", "anwendungsspezifisch", "app passcode", "device password", "third-party " +
				"app password",
			"external app", "пароль приложения",
		},
		action: "Create an app password in the security settings of the account at the provider and enter it here.",
	},
	{
		words: []string{"authorization code", "authorized code", "授权码", "login fail. account is " +
			"abnormal", "service is not open"},
		action: "Switch on SMTP and IMAP in the account's settings at the provider, and enter the authorization " +
			"code from there.",
	},
	{
		words: []string{
			"imap access is disabled", "smtp access is disabled", "imap is disabled", "pop3/imap", "access to imap",
			"does not have access rights to this service", "access disabled", "imap/smtp", "not enabled for imap",
			"imap is not enabled", "pop and imap", "protocol is disabled", "service is not enabled", "smtp is disabled",
			"zugriff über pop3", "enable imap", "imap4 protocol is disabled", "not allowed to use",
		},
		action: "Switch on the access of mail programs (IMAP and SMTP) in the account's settings at the " +
			"provider, then test " +
			"the mailbox.",
	},
	{
		words: []string{
			"too many bad auth", "too many login", "too many failed", "too many authentication", "too many invalid",
			"temporarily blocked", "temporarily locked", "try again later", "rate limit", "throttl", "login attempts",
			"maximum number of login", "too many simultaneous", "too many concurrent", "too many connections",
		},
		action: "Wait for an hour, check the user name and the password, then test the mailbox once: more " +
			"attempts prolong " +
			"the block.",
		anywhere: true,
	},
	{
		words: []string{
			"account is disabled", "account disabled", "account has been disabled", "account suspended", "is suspended",
			"account is locked", "account locked", "account blocked", "account is " +
				"blocked", "deactivated", "account inactive",
			"user is disabled", "mailbox is disabled", "account has been locked", "account closed",
		},
		action:   "Sign in to the account in a web browser, or ask the provider to unblock it, then test the mailbox.",
		anywhere: true,
	},
	{
		words: []string{"password has expired", "password expired", "change your password", "password must be " +
			"changed"},
		action: "Set a new password for the account at the provider and enter it here.",
	},
	{
		words: []string{"verify your account", "verification " +
			"required", "unusual sign", "suspicious", "confirm your identity"},
		action: "Sign in to the account in a web browser and confirm that it was you, then test the mailbox.",
	},
	{
		words: []string{
			"must issue a starttls", "issue a starttls", "starttls is required", "starttls first", "encryption " +
				"required",
			"tls required", "requires tls", "privacyrequired", "plaintext authentication disallowed",
			"cleartext authentication disabled", "must use tls", "ssl required", "ssl is required",
		},
		action:   "Choose the encryption tls or starttls, then test the mailbox.",
		anywhere: true,
	},
	{
		words: []string{
			"unrecognized authentication type", "mechanism not supported", "unsupported authentication mechanism",
			"authentication mechanism", "no mechanism available", "auth not available", "authentication not enabled",
			"command not implemented", "unknown command auth", "authentication not supported", "authnotsupported",
		},
		action: "Use the port for mail programs, 587 with starttls or 465 with tls, or a server that takes a " +
			"user name and a " +
			"password.",
	},
	{
		words: []string{
			"authentication required", "authentication is required", "must authenticate", "not authenticated",
			"5.7.0 authentication", "access denied", "client was not authenticated", "auth first",
		},
		action:   "Enter the user name and the password of the mailbox, then test it.",
		anywhere: true,
	},
	{
		words: []string{
			"not owned by", "sender address rejected", "not allowed to " +
				"send", "sendasdenied", "send as", "not permitted to send",
			"sender is not allowed", "sender verify failed", "from address", "must match", "envelope sender",
			"not authorized to send", "domain not verified", "not verified", "unverified", "sender domain",
		},
		action: "Let the provider verify the address, or enter one that belongs to the account, then test the " +
			"mailbox.",
		anywhere: true,
	},
	{
		words: []string{"relay", "relaying"},
		action: "Enter the provider's server for outgoing mail with a user name and a password, then test the " +
			"mailbox.",
		anywhere: true,
	},
	{
		words: []string{
			"spamhaus", "blocklist", "blacklist", "block list", "listed", "reputation", "dynamic ip",
			"poor reputation", "rbl",
		},
		action: "Use the provider's server for mail programs with a sign-in, or ask the operator of the server " +
			"to have its " +
			"address removed from the list.",
		anywhere: true,
	},
	{
		words: []string{
			"daily limit", "sending limit", "quota exceeded", "limit exceeded", "daily user sending", "sending quota",
		},
		action:   "Wait until the provider's limit has ended, then test the mailbox.",
		anywhere: true,
	},
	{
		words: []string{
			"authenticationfailed", "authentication failed", "authentication " +
				"failure", "invalid credentials", "login failed",
			"invalid login", "incorrect", "authentication credentials invalid", "authentication " +
				"unsuccessful", "535", "denied",
			"bad username", "invalid user", "login invalid", "wrong password", "unknown user", "logonfailed",
			"auth failed",
			"authentication rejected", "invalid password",
		},
		action: wrongPassword,
	},
}
