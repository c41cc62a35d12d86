package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

type userGroup struct {
	Create userCreate `cmd:"" help:"Let a person in, into a new org or one that is there."`
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
		n.Password = rand.Text()[:16]
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
