package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

type userGroup struct {
	Create   userCreate   `cmd:"" help:"Let a person in, into a new org or one that is there."`
	Password userPassword `cmd:"" help:"Give a person another password; ends their sessions."`
	List     userList     `cmd:"" help:"Print the persons and their orgs, by address."`
	Disable  userDisable  `cmd:"" help:"Keep a person out of every org; ends their sessions, keeps all else."`
	Enable   userEnable   `cmd:"" help:"Let a disabled person log in again."`
}

type userCreate struct {
	Email     string `required:"" help:"Mail address."`
	Password  string `env:"FUNNELWORK_USER_PASSWORD" help:"Password; made up and printed where none is given."`
	FirstName string `help:"First name."`
	LastName  string `help:"Last name."`
	Org       string `help:"Name of the new org, which the person will own." default:"Main"`
	OrgID     string `name:"org-id" help:"Id of an org to join instead."`
	Role      string `enum:"viewer,member,admin,owner" default:"member" help:"Role: viewer, member, admin or owner."`
}

// Run implements the kong command.
func (u *userCreate) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) (err error) {
	n := api.SeedUser{
		Email: u.Email, Password: u.Password, FirstName: u.FirstName, LastName: u.LastName,
		OrgName: u.Org, Role: auth.Role(u.Role),
	}
	if u.OrgID != "" {
		if n.Org, err = id.Parse(u.OrgID); err != nil {
			return fmt.Errorf("org id: %w", err)
		}
	}
	if n.Password == "" {
		n.Password = newPassword()
	}

	return s.withDatabase(ctx, "user", log, func(p *process) error {
		n.TrialDays = p.trialDays()
		switch admitted, err := api.Admit(ctx, p.auth, n); {
		case err != nil:
			return err
		case !admitted:
			return fmt.Errorf("a person with the address %s exists already", u.Email)
		case u.Password == "":
			_, err = fmt.Fprintln(out, "password:", n.Password)
			return err
		default:
			return nil
		}
	})
}

// newPassword returns a password made up.
func newPassword() string { return rand.Text()[:16] }

type userPassword struct {
	Email    string `required:"" help:"Mail address."`
	Password string `env:"FUNNELWORK_USER_PASSWORD" help:"The new password; made up and printed where none is given."`
}

// Run implements the kong command.
func (u *userPassword) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	password := u.Password
	if password == "" {
		password = newPassword()
	}

	return s.withDatabase(ctx, "user", log, func(p *process) error {
		if err := api.SetPassword(ctx, p.auth, u.Email, password); err != nil {
			return aboutUser(u.Email, err)
		}
		if login, err := readFirstLogin(p.Home); err == nil && auth.FoldEmail(login.Email) == auth.FoldEmail(u.Email) {
			_ = login.forget() // it would show the old password
		}
		if u.Password != "" {
			return nil
		}

		_, err := fmt.Fprintln(out, "password:", password)

		return err
	})
}

type userDisable struct {
	Email string `required:"" help:"Mail address."`
}

// Run implements the kong command.
func (u *userDisable) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	return s.withDatabase(ctx, "user", log, func(p *process) error {
		return aboutUser(u.Email, api.DisableUser(ctx, p.auth, u.Email))
	})
}

type userEnable struct {
	Email string `required:"" help:"Mail address."`
}

// Run implements the kong command.
func (u *userEnable) Run(ctx context.Context, s *settings, log *slog.Logger) error {
	return s.withDatabase(ctx, "user", log, func(p *process) error {
		return aboutUser(u.Email, api.EnableUser(ctx, p.auth, u.Email))
	})
}

// aboutUser adds the address to an error.
func aboutUser(email string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", email, err)
}

type userList struct {
	JSON   bool   `name:"json" help:"Print one JSON object per line."`
	Search string `help:"Part of the address or the name."`
	Limit  int    `help:"Maximum number of persons." default:"100"`
}

// Run implements the kong command.
func (l *userList) Run(ctx context.Context, s *settings, log *slog.Logger, out io.Writer) error {
	return s.withDatabase(ctx, "user", log, func(p *process) error {
		all, err := p.auth.Accounts(ctx, l.Search, max(l.Limit, 1))
		if err != nil {
			return err
		}
		if l.JSON {
			for _, account := range all {
				if err := asJSON(out, account, false); err != nil {
					return err
				}
			}
			return nil
		}

		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "EMAIL\tSTATUS\tSINCE\tNAME\tORGS")
		for _, account := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\t%q\t%s\n", account.Email, accountStatus(account),
				account.CreatedAt.Format(time.DateOnly), account.FirstName+" "+account.LastName, joinedOrgs(account))
		}

		return w.Flush()
	})
}

func accountStatus(a auth.Account) string {
	if a.DisabledAt != nil {
		return "disabled"
	}
	return "active"
}

// joinedOrgs returns the orgs of an account as "Name (role), ...".
func joinedOrgs(a auth.Account) string {
	orgs := make([]string, len(a.Orgs))
	for i, joined := range a.Orgs {
		orgs[i] = fmt.Sprintf("%q (%s)", joined.Name, joined.Role)
	}
	return strings.Join(orgs, ", ")
}
