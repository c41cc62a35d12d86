package inbound

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring"
)

// within is how long after an email a mail from its recipient is taken for an answer to it.
const within = 90 * 24 * time.Hour

// findEmail finds the email that a message is about, the contact and the thread.
func (s *Service) findEmail(ctx context.Context, tx *postgres.Tx, in *incoming) error {
	var from, about *id.ID
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM mailbox WHERE org_id = $1 AND from_folded = $2),
			(SELECT id FROM contact WHERE org_id = $1 AND email_folded = $2 AND archived_at IS NULL LIMIT 1),
			(SELECT id FROM contact WHERE org_id = $1 AND email_folded = $3 AND archived_at IS NULL LIMIT 1)`,
		[]any{tx.Org(), in.from, foldAddress(in.is.Recipient)}, &in.own, &from, &about)
	if err != nil {
		return fmt.Errorf("find sender: %w", err)
	}

	isReport := in.isReport()
	if in.contact = from; isReport {
		in.contact = about
	}
	if in.own {
		return nil
	}
	if err := s.byAddress(ctx, tx, in); err != nil || in.match != NoMatch {
		return err
	}
	if err := in.byID(ctx, tx, isReport); err != nil || in.match != NoMatch {
		return err
	}

	if in.contact != nil && in.is.Class != classify.List && !isReport {
		in.email, err = emails.LastTo(ctx, tx, *in.contact, in.mailbox, time.Now().Add(-within))
		if err != nil {
			return err
		}
		if in.email != nil {
			in.match = BySender
			if in.thread == in.id {
				in.thread = in.email.ThreadID
			}
		}
	}

	return nil
}

func foldAddress(address string) string {
	if address == "" {
		return ""
	}
	folded, _ := compare.SplitAddress(cleanText(address, maxAddress))
	return folded
}

// byAddress finds the email whose own address the mail was sent to.
func (s *Service) byAddress(ctx context.Context, tx *postgres.Tx, in *incoming) error {
	for _, to := range in.mail.Recipients {
		part, _, _ := strings.Cut(to, "@")
		row, err := emails.ByAddress(ctx, tx, s.Box, part)
		if err != nil {
			return err
		}
		if row != nil {
			in.thread = row.ThreadID
			in.setMatch(row, ByToken)
			return nil
		}
	}

	return nil
}

// byServerID finds the email by the ids that the server has given it.
func (in *incoming) byServerID(ctx context.Context, tx *postgres.Tx, names []string, isReport bool) error {
	var ids []string
	for _, name := range names {
		part, _, _ := strings.Cut(name, "@")
		ids = append(ids, name, part)
	}
	if isReport && in.mail.QueueID != "" {
		ids = append(ids, in.mail.QueueID)
	}
	if len(ids) == 0 {
		return nil
	}

	row, err := emails.ByServerID(ctx, tx, in.mailbox, ids)
	if err != nil || row == nil {
		return err
	}

	in.thread = row.ThreadID
	if isReport || in.mayAnswer(row.To) {
		in.setMatch(row, ByReferences)
	}

	return nil
}

// byID finds the email, or at least the thread, by Message-IDs.
func (in *incoming) byID(ctx context.Context, tx *postgres.Tx, isReport bool) error {
	names := in.mail.References
	if isReport && in.is.Original != "" {
		names = append([]string{in.is.Original}, names...)
	}
	tokens := tokensOf(in.mail.Recipients)
	found, err := emails.ByMessageIDs(ctx, tx, append(tokens, names...))
	if err != nil {
		return err
	}

	for i, name := range append(tokens, names...) {
		row, ok := found[name]
		if !ok {
			continue
		}
		in.thread = row.ThreadID
		if i < len(tokens) {
			in.setMatch(&row, ByToken)
			return nil
		}
		in.setMatch(&row, ByReferences)
		return nil
	}
	if err := in.byServerID(ctx, tx, names, isReport); err != nil || in.thread != in.id || len(names) == 0 {
		return err
	}

	return in.joinKnown(ctx, tx, names)
}

// joinKnown finds the thread of another message that the mail refers to.
func (in *incoming) joinKnown(ctx context.Context, tx *postgres.Tx, names []string) error {
	identities := make([][]byte, len(names))
	for i, name := range names {
		identities[i] = identityOf(name)
	}
	err := tx.QueryRow(ctx, `SELECT thread_id FROM message WHERE org_id = $1 AND identity = ANY ($2) AND NOT own
		AND thread_id IS NOT NULL ORDER BY id DESC LIMIT 1`, []any{tx.Org(), identities}, &in.thread)
	if err != nil && !postgres.None(err) {
		return fmt.Errorf("find thread: %w", err)
	}
	return nil
}

func (in *incoming) setMatch(row *emails.Row, match string) {
	in.email, in.match = row, match
	in.is.For(foldAddress(row.To))
	if row.ContactID != nil {
		in.contact = row.ContactID
	}
}

// isFromElsewhere reports whether a mail that names an email was written at another address than the one that got it.
func (in *incoming) isFromElsewhere() bool {
	if in.email == nil || in.match != ByToken && in.match != ByReferences || in.isReport() || in.email.To == "" {
		return false
	}
	return !in.isFrom(in.email.To)
}

// isFrom reports whether a mail is from an address.
func (in *incoming) isFrom(address string) bool {
	address = foldAddress(address)
	return slices.ContainsFunc(in.mail.Senders, func(from string) bool { return foldAddress(from) == address })
}

// mayAnswer reports whether the sender may answer a mail to an address: it is the recipient, or a colleague.
func (in *incoming) mayAnswer(to string) bool {
	to = foldAddress(to)
	if to == foldAddress(in.from) {
		return true
	}
	domain, same := registrableDomain(to), registrableDomain(in.from)
	return domain != "" && domain == same && scoring.DomainKind(to) == "business"
}

// registrableDomain returns the registrable domain of an address, or "".
func registrableDomain(address string) string {
	_, domain, _ := strings.Cut(address, "@")
	out, err := publicsuffix.EffectiveTLDPlusOne(strings.ToLower(domain))
	if err != nil {
		return ""
	}
	return out
}

// tokensOf returns the Message-IDs that plus addresses stand for: ada+<token>@shop.example for <token>@shop.example.
func tokensOf(recipients []string) (out []string) {
	for _, to := range recipients {
		local, domain, _ := strings.Cut(to, "@")
		if _, token, ok := strings.Cut(local, "+"); ok && len(token) >= 32 {
			out = append(out, token+"@"+domain)
		}
	}
	return out
}
