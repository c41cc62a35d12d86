package requestlog

import (
	"net/url"
	"regexp"
	"strings"
)

// secretNames are parts of the names of members whose values are secrets.
var secretNames = []string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key", "access_key",
	"private_key", "signing_key", "credential", "authorization", "auth_code", "cookie", "bearer", "cvc", "card",
	"verifier", "otp", "iban",
}

// namesSecret reports whether a member of that name has a secret. An OAuth code is one.
func namesSecret(name string) bool {
	folded := strings.ToLower(strings.ReplaceAll(name, " ", "_"))
	for _, part := range secretNames {
		if strings.Contains(folded, part) {
			return true
		}
	}
	return folded == "code" || folded == "key_id" || folded == "pin"
}

var (
	// secretForm matches the beginnings of keys, tokens and secrets that this and other services issue.
	secretForm = regexp.MustCompile(`(?i)(fw_|whsec_|sk_|rk_|pk_|ghp_|gho_|xox[abps]-|akia|eyj[a-z0-9_-]{8}|bearer |` +
		`basic |-----begin)`)
	// opaque matches a run of characters that is too long for a word.
	opaque = regexp.MustCompile(`[A-Za-z0-9+/_=-]{32,}`)
	// uuidForm matches an id, which is no secret.
	uuidForm = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
	// userOfURL and queryOfURL match the parts of a URL that may have a credential.
	userOfURL  = regexp.MustCompile(`://[^/@\s]*@`)
	queryOfURL = regexp.MustCompile(`(://[^?#\s]*)[?#]\S*`)
)

// withoutSecrets returns a value with at most mostValue characters and nothing that looks like a secret.
func withoutSecrets(text string) string {
	if uuidForm.MatchString(text) {
		return text
	}

	text = userOfURL.ReplaceAllString(text, "://"+redacted+"@")
	text = queryOfURL.ReplaceAllString(text, "$1?"+redacted)
	if secretForm.MatchString(text) {
		return redacted
	}
	if hasOpaqueRun(text) {
		return redacted
	}

	return cutText(text)
}

// hasOpaqueRun reports whether text has a long run of letters and digits mixed, as keys have.
func hasOpaqueRun(text string) bool {
	for _, run := range opaque.FindAllString(text, -1) {
		if strings.ContainsAny(run, "0123456789") && strings.ToLower(run) != strings.ToUpper(run) {
			return true
		}
	}
	return false
}

// unescapeToken returns the name that a token of a JSON pointer in a URI fragment stands for.
func unescapeToken(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
