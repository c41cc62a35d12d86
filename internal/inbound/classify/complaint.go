package classify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/inbound/parse"
)

// otherFeedback has the types of feedback reports that are no complaints (RFC 6591, RFC 6430, RFC 5965).
var otherFeedback = []string{"not-spam", "auth-failure", "dmarc", "opt-out", "opt-out-list", "virus"}

// isOtherFeedback reports whether a mail is a report that is neither a complaint nor about a delivery: a report of a
// failed authentication, or a summary of such reports.
func isOtherFeedback(m *parse.Mail) bool {
	return m.Feedback != nil && slices.Contains(otherFeedback, m.Feedback.Type) ||
		dmarcSubject.MatchString(strings.ToLower(m.Subject)) && len(m.References) == 0
}

// dmarcSubject is the subject of reports about domains (RFC 7489 section 7.2.1.1, RFC 8460 section 5.3).
var dmarcSubject = regexp.MustCompile(
	`^\s*(\[preview\] |re: )?(report domain: ?\S+ submitter: ?\S+|dmarc (aggregate|forensic|failure|summary) report|` +
		`fw?d?: ?report domain:)`)

// complaint reads a feedback report, or one of the mails that webmailers send in place of one: the mail that was
// reported, with a header field or a subject that says so.
func complaint(m *parse.Mail, r *Result) bool {
	switch {
	case m.Feedback != nil && slices.Contains(otherFeedback, m.Feedback.Type):
		return false
	case m.Feedback != nil:
		r.Recipient = m.Feedback.Recipient
	case m.Original == nil || len(m.References) > 0 && m.ReportType != "feedback-report":
		return false
	case m.ReportType != "feedback-report" && !m.Original.Has(reportedRecipient) &&
		!complaintSubject.MatchString(strings.ToLower(m.Subject)):
		return false
	}
	if r.Recipient == "" {
		r.Recipient = reportedTo(m.Original)
	}
	r.Class, r.Original = Complaint, original(m)

	return true
}

// reportedRecipient is the field that Outlook.com adds to a mail that it reports.
const reportedRecipient = "X-HmXmrOriginalRecipient"

// reportedTo returns the recipient of a mail that was reported, or "".
func reportedTo(original parse.Header) string {
	for _, name := range []string{reportedRecipient, "X-Original-To", "Delivered-To", "Envelope-To", "To"} {
		if found := addressed.FindString(original.Get(name)); found != "" {
			return strings.ToLower(found)
		}
	}
	return ""
}

// complaintSubject is how webmailers and hosters call a mail that reports another.
var complaintSubject = regexp.MustCompile(`^\s*(fwd?: ?|\[.{1,40}\] ?)?(complaint about (a )?message from|(e-?mail ` +
	`)?feedback report|` +
	`(spam|abuse|junk)[ -]?(mail )?(report|complaint|notification|feedback)|(user|customer|fbl) (spam )?(complaint` +
	`|report)|` +
	`client (tos|spam) notification|report(ed)? (as|of) (spam|junk|abuse)|spam-?beschwerde|plainte pour spam|scomp ` +
	`report)`)
