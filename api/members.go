package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/funnelwork/funnelwork/api/httpx"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/org"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
	"github.com/funnelwork/funnelwork/jobs/quotaannounce"
)

const (
	memberTag   = "Members"
	membersPath = "/api/v1/members"
)

type memberOut struct {
	Location string `header:"Location" doc:"Address of the member"`
	httpx.Tagged
	Body org.Member
}

type membersOut struct{ Body httpx.List[org.Member] }

// invitedOut is an invitation as shown to its sender.
type invitedOut struct {
	Status   int
	Location string `header:"Location" doc:"Address of the member or invitation"`
	httpx.Tagged
	Body invitedMember
}

type invitedMember struct {
	org.Member
	Mail      string `json:"mail" enum:"sent,withheld,not_configured"`
	AcceptURL string `json:"accept_url,omitempty" format:"uri"`
}

// Descriptions implements wire.Describer.
func (invitedMember) Descriptions() map[string]string {
	return map[string]string{
		"mail": "withheld: the limit of mails per address in 24 hours was reached. An earlier link remains " +
			"valid. not_configured: this install sends no mail",
		"accept_url": "Link to accept the invitation, to pass on yourself; only on an install without mail. Anyone " +
			"with the link may join",
	}
}

type inviteMemberIn struct {
	Body struct {
		Email string `json:"email" minLength:"3" maxLength:"254"`
		Role  string `json:"role" enum:"viewer,member,admin,owner"`
	}
}

// Descriptions implements wire.Describer.
func (inviteMemberIn) Descriptions() map[string]string {
	return map[string]string{
		"email": "Address to invite; inviting a pending address again returns the same invitation",
		"role":  "Role of the new member; only an owner may invite an owner",
	}
}

// MemberID is the path parameter of a member or an invitation. It is exported because huma ignores unexported embedded
// types.
type MemberID struct {
	ID id.ID `path:"id" format:"uuid" doc:"ID of the member or the invitation"`
}

type updateMemberIn struct {
	MemberID
	httpx.IfMatch
	Body struct {
		Role      httpx.Optional[string] `json:"role" required:"false" enum:"viewer,member,admin,owner"`
		ID        httpx.Optional[string] `json:"id" required:"false" doc:"Cannot be changed"`
		Email     httpx.Optional[string] `json:"email" required:"false"`
		FirstName httpx.Optional[string] `json:"first_name" required:"false"`
		LastName  httpx.Optional[string] `json:"last_name" required:"false"`
		Status    httpx.Optional[string] `json:"status" required:"false"`
		CreatedAt httpx.Optional[string] `json:"created_at" required:"false"`
		UpdatedAt httpx.Optional[string] `json:"updated_at" required:"false"`
		ExpiresAt httpx.Optional[string] `json:"expires_at" required:"false"`
	}
}

// Descriptions implements wire.Describer.
func (updateMemberIn) Descriptions() map[string]string {
	return map[string]string{
		"role":       "The new role; only an owner may grant or take the role owner, and one owner must remain",
		"email":      "Read-only: only the current value is accepted",
		"first_name": "Read-only: each user changes their own names",
		"last_name":  "Read-only: each user changes their own names",
		"status":     "Read-only: only the current value is accepted",
		"created_at": "Read-only: only the current value is accepted",
		"updated_at": "Read-only: only the current value is accepted",
		"expires_at": "Read-only: only the current value is accepted",
	}
}

type memberDeleteIn struct {
	MemberID
	httpx.IfMatch
	KeepKeys bool `query:"keep_keys" doc:"Keep the member's API keys; otherwise they are revoked"`
}

func (a *App) mountMembers() {
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "members.list",
			Method: http.MethodGet, Path: membersPath, Need: httpx.Persons(auth.Viewer), Tag: memberTag,
			Title: "List members and open invitations",
		}, a.listMembers)
	httpx.Route(a.Server, httpx.Op{
		ID:     "members.invite",
		Method: http.MethodPost, Path: membersPath, Need: httpx.Members(auth.Admin), Tag: memberTag,
		Title:  "Invite a person by mail, or repeat an invitation",
		Status: http.StatusCreated, Also: []int{http.StatusOK}, Secret: true,
		Writes: []string{mailsystem.Kind.Name(), quotaannounce.Kind.Name()},
	}, a.inviteMember)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "members.get",
			Method: http.MethodGet, Path: membersPath + "/{id}", Need: httpx.Persons(auth.Viewer), Tag: memberTag,
			Title: "Get a member",
		}, a.readMember)
	httpx.Route(a.Server,
		httpx.Op{
			ID:     "members.update",
			Method: http.MethodPatch, Path: membersPath + "/{id}", Need: httpx.Members(auth.Admin), Tag: memberTag,
			Title: "Change a member's role",
		}, a.patchMember)
	httpx.Route(a.Server, httpx.Op{
		ID:     "members.remove",
		Method: http.MethodDelete, Path: membersPath + "/{id}", Need: httpx.Members(auth.Admin), Tag: memberTag,
		Title: "Remove a member or revoke an invitation", Status: http.StatusNoContent,
		Writes: []string{"user.removed"},
	}, a.removeMember)
}

func showMember(m *org.Member) *memberOut { return &memberOut{Tagged: httpx.ETag(m.Edit, 0), Body: *m} }

// actingMember returns the caller in the form that the rules about owners need.
func actingMember(w auth.Who) org.Acting {
	return org.Acting{User: w.User, IsOwner: w.Role.Includes(auth.Owner)}
}

func (a *App) listMembers(ctx context.Context, in *httpx.PageInput) (*membersOut, error) {
	from, err := httpx.After[id.ID](ctx, a.Server, in.Page)
	if err != nil {
		return nil, err
	}

	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*membersOut, error) {
		rows, err := org.Members(ctx, tx, orZero(from), in.Limit+1)
		if err != nil {
			return nil, err
		}

		l, err := httpx.NewList(
			ctx,
			a.Server,
			in.Page,
			rows,
			func(m org.Member) org.Member { return m },
			func(m org.Member) id.ID {
				return m.ID
			},
		)
		if err == nil {
			err = in.Add(ctx, tx, &l.Total, org.CountMembers)
		}

		return &membersOut{l}, err
	})
}

func (a *App) readMember(ctx context.Context, in *MemberID) (*memberOut, error) {
	return httpx.Read(ctx, a.Server, func(tx *postgres.Tx) (*memberOut, error) {
		m, err := org.OneMember(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		return showMember(m), nil
	})
}

func (a *App) inviteMember(ctx context.Context, in *inviteMemberIn) (*invitedOut, error) {
	email := strings.TrimSpace(in.Body.Email)
	if err := auth.CheckEmail("email", email); err != nil {
		return nil, err
	}

	w := httpx.Who(ctx)

	return httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*invitedOut, error) {
		org.AwaitInvitation(tx, auth.FoldEmail(email))
		o, err := org.Read(ctx, tx)
		if err != nil {
			return nil, err
		}
		invitation := org.Invitation{Email: email, Role: in.Body.Role, By: w.User}
		m, err := a.inviteTo(ctx, tx, actingMember(w), o.Name, invitation)
		if err != nil {
			return nil, err
		}
		return m, nil
	})
}

// inviteTo creates an invitation to tx's org, which is called name, and enqueues its mail unless the mail is withheld.
// Without configured mail, the response contains the link.
func (a *App) inviteTo(ctx context.Context, tx *postgres.Tx, by org.Acting, name string,
	in org.Invitation,
) (*invitedOut, error) {
	token, hash := auth.NewInvitation(tx.Org())
	in.Folded = auth.FoldEmail(in.Email)
	in.TokenHash = hash
	in.Unmailed = !a.HasPart(httpx.PartMail)
	m, err := org.Invite(ctx, tx, by, in)
	if err != nil {
		return nil, err
	}

	out := &invitedOut{
		Status:   http.StatusCreated,
		Location: membersPath + "/" + m.ID.String(),
		Tagged:   httpx.ETag(m.Edit, 0),
	}
	if m.Again {
		out.Status = http.StatusOK
	}

	out.Body.Member = *m.Member
	switch {
	case in.Unmailed:
		out.Body.Mail = "not_configured"
		out.Body.AcceptURL = mail.InviteLink(a.PublicURL, token)
	case !m.Mailed:
		out.Body.Mail = "withheld"
	default:
		out.Body.Mail = "sent"
		err = a.enqueueMail(ctx, tx, mail.Invite(in.Email, a.PublicURL, token, name))
	}

	return out, err
}

func (a *App) patchMember(ctx context.Context, in *updateMemberIn) (*memberOut, error) {
	w := httpx.Who(ctx)
	b := &in.Body
	if b.Role.Null {
		return nil, httpx.NotNullable("role")
	}

	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (*memberOut, error) {
		now, err := org.OneMember(ctx, tx, in.ID)
		if err != nil {
			return nil, err
		}
		if err := httpx.CheckUnchanged(now, map[string]httpx.Optional[string]{
			"id": b.ID, "email": b.Email, "first_name": b.FirstName, "last_name": b.LastName, "status": b.Status,
			"created_at": b.CreatedAt, "updated_at": b.UpdatedAt, "expires_at": b.ExpiresAt,
		}); err != nil {
			return nil, err
		}

		role := now.Role
		b.Role.Apply(&role)
		m, err := org.SetRole(ctx, tx, actingMember(w), in.ID, role, in.Check)
		if err != nil {
			return nil, err
		}

		return showMember(m), nil
	})
	if err != nil {
		return nil, err
	}

	a.Auth.Forget(w.Org, out.Body.ID)

	return out, nil
}

func (a *App) removeMember(ctx context.Context, in *memberDeleteIn) (*nothing, error) {
	w := httpx.Who(ctx)
	var left id.ID
	out, err := httpx.Write(ctx, a.Server, func(tx *postgres.Tx) (_ *nothing, err error) {
		if left, err = org.Remove(ctx, tx, actingMember(w), in.ID, in.KeepKeys, in.Check); err != nil {
			return nil, err
		}
		if !left.IsZero() {
			auth.EndSessions(tx, left)
		}
		return &nothing{}, nil
	})
	if err != nil {
		return nil, err
	}

	a.Auth.Forget(w.Org, left)

	return out, nil
}
