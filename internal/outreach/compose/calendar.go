package compose

import (
	"mime"
	"regexp"
	"strings"
)

var (
	calendarMethod = regexp.MustCompile(`(?im)^METHOD:[ \t]*([A-Za-z-]{2,30})[ \t]*\r?$`)
	methodToken    = regexp.MustCompile(`^[A-Za-z-]{2,30}$`)
)

// fileType returns the Content-Type of an attachment with its name. An invitation keeps its method, without which
// calendars show a file; it is that of the file's own text if the type has none (RFC 6047).
func fileType(a *Attachment, name string) string {
	kind, given, err := mime.ParseMediaType(oneLine(a.Type, 200))
	if err != nil || !strings.Contains(kind, "/") ||
		strings.HasPrefix(kind, "multipart/") || strings.HasPrefix(kind, "message/") {
		kind, given = "application/octet-stream", nil
	}
	parameters := map[string]string{"name": name}
	if kind == "text/calendar" {
		method := given["method"]
		if found := calendarMethod.FindSubmatch(a.Content); !methodToken.MatchString(method) && found != nil {
			method = string(found[1])
		}
		if methodToken.MatchString(method) {
			parameters["method"] = strings.ToUpper(method)
		}
		parameters["charset"] = "utf-8"
		if charset := given["charset"]; methodToken.MatchString(charset) || strings.EqualFold(charset, "utf-8") {
			parameters["charset"] = charset
		}
	}
	return mime.FormatMediaType(kind, parameters)
}
