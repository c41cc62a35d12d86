package events

import (
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Made-up objects, one per type, for the catalogue and for test sends.

var sampleTime = wire.At(time.Date(2026, 1, 15, 9, 30, 0, 123456000, time.UTC))

// sampleID returns a fixed UUIDv7 with the time sampleTime.
func sampleID(n byte) id.ID {
	ms := sampleTime.UnixMilli()
	return id.ID{
		byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms), 0x70, 0,
		0x80, 0, 0, 0, 0, 0, 0, n,
	}
}

func ptr[T any](v T) *T { return &v }

var (
	sampleContact = Contact{
		ID: sampleID(2), Email: "ada@example.com", FirstName: "Ada", LastName: "Lovelace", Phone: ptr("+441632960000"),
		JobTitle: ptr("Analyst"), Source: ptr("website"), TimeZone: ptr("Europe/London"), Country: ptr("GB"),
		CompanyID: ptr(sampleID(3)), Stage: "lead", Tag: []string{"newsletter"}, Segment: []string{"customers-uk"},
		Attributes: map[string]any{"seats": 25},
		LeadScore:  42.17, Score: ContactScore{Probability: 0.4217, Confidence: "prior", ModelVersion: "prior-1"},
		OwnerID: ptr(sampleID(4)), CreatedAt: sampleTime, UpdatedAt: sampleTime,
	}
	archivedContact = func() Contact {
		c := sampleContact
		c.ArchivedAt = ptr(sampleTime)
		return c
	}()

	samplePurge   = Purge{ID: sampleID(2)}
	sampleMerge   = Merge{ID: sampleID(2), LoserIDs: []id.ID{sampleID(5)}}
	sampleTagging = Tagging{ContactID: sampleID(2), Added: []string{"vip"}, Removed: []string{}}
	sampleCompany = Company{
		ID: sampleID(3), Name: "Analytical Engines Ltd", Domain: ptr("example.com"),
		Website: ptr("https://www.example.com/"), Industry: ptr("Machinery"), Size: ptr("11-50"),
		CreatedAt: sampleTime, UpdatedAt: sampleTime,
	}
	archivedCompany = func() Company {
		c := sampleCompany
		c.ArchivedAt = ptr(sampleTime)
		return c
	}()
	sampleDeal = Deal{
		ID: sampleID(6), Name: "Engines 2026", ContactID: ptr(sampleID(2)),
		CompanyID: ptr(sampleID(3)), PipelineID: sampleID(7), StageID: sampleID(8), Status: "open", Amount: 1250000,
		Currency: "EUR", ExpectedCloseOn: ptr("2026-03-31"), Position: "i", CreatedAt: sampleTime,
		UpdatedAt: sampleTime,
	}
	wonDeal = func() Deal {
		d := sampleDeal
		d.Status, d.ClosedAt = "won", ptr(sampleTime)
		return d
	}()
	lostDeal = func() Deal {
		d := wonDeal
		d.Status, d.LostReason = "lost", ptr("price")
		return d
	}()
	archivedDeal = func() Deal {
		d := sampleDeal
		d.ArchivedAt = ptr(sampleTime)
		return d
	}()
	sampleEmail = Email{
		ID: sampleID(9), ContactID: ptr(sampleID(2)), MailboxID: sampleID(10),
		Subject: "Your engine", MessageID: ptr("k5x4q2@example.com"), ThreadID: ptr(sampleID(9)),
		Purpose: ptr("personal"), Status: "sent", Evidence: []EmailEvidence{}, Why: []string{},
	}
	clickedEmail = func() Email {
		e := sampleEmail
		e.URL = ptr("https://example.com/offer")
		return e
	}()
	failedEmail = func() Email {
		e := sampleEmail
		e.Status, e.StatusReason, e.Code = "failed", ptr("rejected"), ptr("5.7.1")
		return e
	}()
	unknownEmail = func() Email {
		e := sampleEmail
		e.Status, e.StatusReason = "unknown", ptr("no_reply")
		return e
	}()
	deliveredEmail = func() Email {
		e := sampleEmail
		e.Class, e.Sure = ptr("delivery_report"), ptr(true)
		return e
	}()
	repliedEmail = func() Email {
		e := sampleEmail
		e.Class, e.Sure = ptr("human"), ptr(true)
		return e
	}()
	bouncedEmail = func() Email {
		e := sampleEmail
		e.BounceKind, e.Code, e.Class, e.Sure = ptr("hard"), ptr("5.1.1"), ptr("bounce"), ptr(true)
		return e
	}()
	complainedEmail = func() Email {
		e := sampleEmail
		e.Class, e.Sure = ptr("complaint"), ptr(true)
		return e
	}()
	receivedEmail = Email{
		ID: sampleID(14), ContactID: ptr(sampleID(2)), MailboxID: sampleID(10), Subject: "Re: Your engine",
		MessageID: ptr("r1@example.com"), ThreadID: ptr(sampleID(9)), Evidence: []EmailEvidence{}, Why: []string{},
		Class: ptr("human"), Sure: ptr(true),
	}
	sampleSequence  = Sequence{ID: sampleID(11), Name: "Welcome", Status: "active"}
	sampleEnrolment = Enrolment{
		ID: sampleID(12), SequenceID: sampleID(11), ContactID: sampleID(2),
		Status: "active", Step: 1, Version: 1, StepKey: "email-1", MailboxID: ptr(sampleID(10)),
	}
	sampleMembership = Membership{SegmentID: sampleID(13), Segment: "customers-uk", ContactID: sampleID(2)}
	sampleTask       = Task{
		ID: sampleID(14), Title: "Call back", Status: "open", Priority: "normal",
		ContactID: ptr(sampleID(2)), DueAt: ptr(sampleTime), CreatedAt: sampleTime, UpdatedAt: sampleTime,
	}
	doneTask = func() Task {
		k := sampleTask
		k.Status, k.CompletedAt = "done", ptr(sampleTime)
		return k
	}()
	sampleActivity = Activity{
		ID: sampleID(15), Kind: "note", ContactID: ptr(sampleID(2)),
		Text: "Asked for a quote", At: sampleTime,
	}
	sampleImport = Import{
		ID: sampleID(16), Status: "completed", RowsTotal: 1000, RowsCreated: 900,
		RowsUpdated: 98, RowsFailed: 2, ErrorsURL: ptr("https://api.example.com/files/ZQ"),
	}
	sampleExport = Export{
		ID: sampleID(17), Status: "completed", Rows: 1000,
		DownloadURL: ptr("https://api.example.com/files/Zg"),
	}
	sampleModel = ScoreModel{
		Version: "7", Confidence: "learned",
		Metrics: map[string]float64{"log_loss": 0.41, "auc": 0.88},
	}
	sampleMember = Member{
		ID: sampleID(4), Email: "grace@example.com", FirstName: "Grace", LastName: "Hopper",
		Role: "member", CreatedAt: sampleTime,
	}
	sampleOrganization = Organization{
		ID: sampleID(0), Name: "Example Ltd", Settings: map[string]any{},
		CreatedAt: sampleTime, UpdatedAt: sampleTime,
	}
	samplePlan    = Plan{Plan: "solo_pro", Interval: ptr("month"), Status: "active", EffectiveAt: sampleTime}
	sampleQuota   = Quota{Kind: "ai_tokens_month", Percent: 80, Used: 800000, Limit: 1000000}
	sampleAccount = SocialAccount{
		ID: sampleID(18), OrgID: sampleID(0), Platform: "linkedin",
		ExternalAccountID: "a1b2c3", DisplayName: "Example Ltd", AvatarURL: ptr("https://example.com/logo.png"),
		Status: "active", ConnectedAt: sampleTime, TokenExpiresAt: ptr(sampleTime), MissingScopes: []string{},
	}
	brokenAccount = func() SocialAccount {
		a := sampleAccount
		a.Status = "reauth_required"
		return a
	}()
	endedAccount = func() SocialAccount {
		a := sampleAccount
		a.Status, a.TokenExpiresAt = "revoked", nil
		return a
	}()
	sampleEndpoint = Webhook{
		ID: sampleID(19), URL: "https://example.com/hooks", Events: []string{"*"},
		DisabledReason: ptr("gone"), CreatedAt: sampleTime, UpdatedAt: sampleTime,
	}
	sampleBroadcast = Broadcast{
		ID: sampleID(14), Name: "Autumn news", MailboxID: sampleID(10), Status: "sent", Total: 1000, Sendable: 985,
		LeftOut: map[string]int{"no_email": 3, "suppressed": 12}, CreatedAt: sampleTime, CompletedAt: sampleTime,
	}
	sampleMailbox = Mailbox{
		ID: sampleID(10), Name: "Ada", Kind: "smtp", FromEmail: "ada@example.com", FromName: "Ada Lovelace",
		SMTP:     &MailServer{Host: "smtp.example.com", Port: 587, TLS: "starttls", Username: "ada@example.com"},
		DailyCap: ptr(50), GapSeconds: MailGap{Min: 30, Max: 120}, Status: "disabled",
		StatusReason: ptr("auth_refused"), Domain: MailDomainCheck{SPF: "pass", DKIM: "pass", DMARC: "missing"},
		CreatedAt: sampleTime, UpdatedAt: sampleTime,
	}
	sampleBrand = Brand{
		BrandName: ptr("Example"), HideBrand: true, SupportEmail: ptr("help@example.com"),
		Colors: BrandColors{Primary: "#0b5fff", Accent: "#0a7d6c", Background: "#ffffff", Text: "#1b1f24"},
		Logo: &BrandLogo{
			URL: "https://crm.example.com/white-label/brand/logo/" +
				"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
			ContentType: "image/png", Width: 320, Height: 80,
		},
	}
	sampleDomain      = Domain{Domain: "crm.example.com", Status: "active"}
	degradedDomain    = Domain{Domain: "crm.example.com", Status: "degraded", Reason: ptr("cname_missing")}
	sampleConnect     = Connect{Status: "enabled", ChargesEnabled: true, PayoutsEnabled: true, Requirements: []string{}}
	restrictedConnect = Connect{Status: "restricted", Requirements: []string{"company.tax_id"}}
)
