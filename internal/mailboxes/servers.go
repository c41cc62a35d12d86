package mailboxes

import (
	"errors"
	"slices"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Ports of mail servers that may be dialled without AllowPrivate, the usual one first.
var (
	smtpPorts = []int{587, 465, 25, 2525}
	imapPorts = []int{993, 143}
)

// implicit is the port of each protocol on which TLS begins with the connection.
var implicit = map[string]int{"smtp": 465, "imap": 993}

// applyServers applies smtp and imap.
func (d *draft) applyServers(p *Patch) {
	m := d.m
	if m.Kind == SMTP {
		d.applyServer("smtp", smtpPorts, p.SMTP, &m.smtp, &m.smtpUser, smtpPassword, m.smtpSecret != nil)
		if m.smtp.name == "" && d.refused == nil {
			d.Wrong("smtp", "required", "The kind smtp needs a server.")
		}
		d.applyServer("imap", imapPorts, p.IMAP, &m.imap, &m.imapUser, imapPassword, m.imapSecret != nil)
		return
	}

	for field, in := range map[string]wire.Field[ServerPatch]{"smtp": p.SMTP, "imap": p.IMAP} {
		if in.Set && !in.Null {
			d.Wrong(field, "not_allowed", "Only the kind smtp has a server of its own choice.")
		}
	}
}

// applyServer applies one server. sealed reports whether it has a password.
func (d *draft) applyServer(field string, ports []int, in wire.Field[ServerPatch], at *server, user *string,
	column string, sealed bool,
) {
	if !in.Set {
		return
	}
	if in.Null {
		*at, *user = server{tls: TLS}, ""
		d.passwords[column] = ""
		return
	}

	p, path := in.Value, field+"/"
	before := *at
	applyText(d.Form, path+"host", p.Host, &at.name, maxHost)
	if at.name == "" {
		d.Wrong(path+"host", "required", "This field is required.")
		return
	}

	if at.port == 0 {
		at.port, at.tls = ports[0], ""
	}
	applyRequiredNumber(d.Form, path+"port", p.Port, &at.port, 1, 65535)
	if at.tls == "" {
		if at.tls = StartTLS; at.port == implicit[field] {
			at.tls = TLS
		}
	}
	d.OneOf(path+"tls", p.TLS, &at.tls, TLS, StartTLS, NoTLS)
	if at.tls == NoTLS && !d.s.AllowPrivate {
		d.Wrong(path+"tls", "not_allowed", "A connection without TLS is not allowed.")
	}
	applyText(d.Form, path+"username", p.Username, user, maxAddress)
	if pw := p.Password; pw.Set {
		if len(pw.Value) > maxPassword {
			d.Wrong(path+"password", "too_long", "At most 1000 bytes are allowed.")
		}
		d.passwords[column] = pw.Value
		sealed = pw.Value != ""
	}
	if sealed && *user == "" {
		*user = d.m.FromEmail
	}
	// A password is not sent to another server than the one that it was given for.
	if _, given := d.passwords[column]; !given && sealed && at.name != before.name {
		d.Wrong(path+"password", "required", "Another server needs the password again.")
	}
	if *at != before {
		d.checkAllowed(path, *at, ports)
	}
}

// maxHost is the longest name of a host.
const maxHost = 253

// checkAllowed refuses servers that are not public, and ports that are none of mail.
func (d *draft) checkAllowed(path string, at server, ports []int) {
	if d.refused != nil {
		return
	}
	err := outbound.CheckHost(at.name, d.s.AllowPrivate)
	switch {
	case errors.Is(err, outbound.ErrNotAllowed):
		d.refused = notAllowed(fault.HostNotAllowed, path+"host", "Mail goes to public servers. An install that may "+
			"use private ones sets FUNNELWORK_MAIL_ALLOW_PRIVATE=true.")
	case err != nil:
		d.Wrong(path+"host", "invalid_host", "This is not the name of a server.")
	case !d.s.AllowPrivate && !slices.Contains(ports, at.port):
		detail := "Mail servers have port 25, 465, 587 or 2525."
		if path == "imap/" {
			detail = "Mailboxes are read on port 993 or 143."
		}
		d.refused = notAllowed(fault.PortNotAllowed, path+"port", detail)
	}
}

func notAllowed(code fault.Code, field, detail string) *fault.Fault {
	f := fault.New(code, detail)
	f.Fields = []fault.FieldError{{Pointer: "#/" + field, Code: string(code), Detail: detail}}
	return f
}

// firstFault returns the error of the patch, or nil.
func (d *draft) firstFault() error {
	if err := d.Fault(); err != nil {
		return err
	}
	if d.refused != nil {
		return d.refused
	}
	return nil
}
