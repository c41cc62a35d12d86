package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/emails"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/dispatch"
	"github.com/funnelwork/funnelwork/internal/redisx"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/suppression"
	"github.com/funnelwork/funnelwork/jobs/emailsend"
)

// writing is the role of an API process that writes emails: one transaction each, with the idempotency key, the email
// and its job, which is pushed into Redis after the commit. Its client sends each request again, with the same key,
// until it has an answer.
const writing = "API that writes emails"

// writeEmails writes the emails that are missing, as a client of a killed API asks for them again.
func writeEmails(ctx context.Context, env func(string) string, org id.ID) error {
	box, err := secret.Parse(env("KEYSET"))
	if err != nil {
		return err
	}
	mailbox, err := id.Parse(env("MAILBOX"))
	if err != nil {
		return err
	}
	total, err := strconv.Atoi(env("MAILS"))
	if err != nil {
		return err
	}
	client, err := redisx.Open(env("REDIS"), redisx.Request)
	if err != nil {
		return err
	}
	pusher := dispatch.NewCommitEnqueuer(dispatch.CommitEnqueuerOptions{
		Redis: client, Log: slog.New(slog.DiscardHandler),
	})
	db, err := postgres.Open(ctx, postgres.Options{
		URL: env("DB"), Role: postgres.App, MaxConns: 4, AfterCommit: pusher.AfterCommit,
	})
	if err != nil {
		return err
	}
	service := &emails.Service{
		Box: box, Mailboxes: &mailboxes.Service{Box: box, AllowPrivate: true},
		Suppressions: &suppression.Service{Box: box},
	}
	ctx, cancel := context.WithCancel(ctx)
	pushed := make(chan error, 1)
	go func() { pushed <- pusher.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-pushed; err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "push:", err)
		}
	}()
	for i := range total {
		if err := db.Tx(ctx, org, func(tx *postgres.Tx) error {
			return writeEmail(ctx, tx, service, mailbox, i)
		}); err != nil {
			return err
		}
	}
	return nil
}

// writeEmail writes email number i, unless a request with its key was answered before.
func writeEmail(ctx context.Context, tx *postgres.Tx, service *emails.Service, mailbox id.ID, i int) error {
	n, err := tx.Exec(ctx, `INSERT INTO idempotency_key (org_id, key, fingerprint, answer) VALUES ($1, $2, '', '')
		ON CONFLICT DO NOTHING`, tx.Org(), fmt.Sprintf("mail %d", i))
	if err != nil || n == 0 {
		return err
	}
	m, err := service.Mailboxes.ForSending(ctx, tx, mailbox)
	if err != nil {
		return err
	}
	contact, to := id.New(), fmt.Sprintf("r%d@example.com", i)
	tx.Queue(`INSERT INTO contact (org_id, id, email, email_folded, first_name, last_name, last_name_folded, stage,
		created_at, updated_at) VALUES ($1, $2, $3, $3, 'A', 'B', 'b', 'lead', now(), now())`, tx.Org(), contact, to)
	full, err := service.Create(ctx, tx, &emails.New{
		Mailbox: m, ContactID: contact, ToEmail: to, Subject: "Hello", Purpose: emails.Personal,
		Text: strings.Repeat("Hello\n", 2000),
	})
	if err != nil {
		return err
	}
	return emailsend.Kind.Add(ctx, tx, emailsend.Args{Email: full.ID}, queue.ConcurrencyKey(mailbox))
}
