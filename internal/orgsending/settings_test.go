package orgsending_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/orgsending"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// office is an org.
type office struct {
	*testing.T
	*testkit.Database
	org id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{t, testkit.DB(t), id.New()}
	if _, err := testkit.Pgx(t, o.URL).Exec(t.Context(), `INSERT INTO org (id, name) VALUES ($1, 'Shop')`,
		o.org); err != nil {
		t.Fatal(err)
	}
	return o
}

func anyEdit(*orgsending.Settings) error { return nil }

func (o *office) update(p orgsending.Patch) (s *orgsending.Settings, changed []string, err error) {
	err = o.App.Tx(o.Context(), o.org, func(tx *postgres.Tx) (err error) {
		s, changed, err = orgsending.Update(o.Context(), tx, &p, anyEdit)
		return err
	})
	return s, changed, err
}

func (o *office) read() (s *orgsending.Settings) {
	o.Helper()
	if err := o.App.ReadTx(o.Context(), o.org, func(tx *postgres.Tx) (err error) {
		s, err = orgsending.Read(o.Context(), tx)
		return err
	}); err != nil {
		o.Fatal(err)
	}
	return s
}

func TestAnOrgHasTheDefaultsUntilItChangesThem(t *testing.T) {
	t.Parallel()
	o := open(t)
	if diff := cmp.Diff(orgsending.Defaults(), o.read()); diff != "" {
		t.Errorf("before the first change (-want +got):\n%s", diff)
	}
	got, changed, err := o.update(orgsending.Patch{
		PostalAddress:    wire.Some("Shop\n1 High Street\nBerlin"),
		BlockedCountries: wire.Some([]string{"us", " de ", "US"}),
		StopOn:           wire.Some(orgsending.StopPatch{CompanyReply: wire.Some(true)}),
		DomainDailyCap:   wire.Field[int]{Set: true, Null: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := orgsending.Defaults()
	want.PostalAddress, want.BlockedCountries = new("Shop\n1 High Street\nBerlin"), []string{"DE", "US"}
	want.StopOn.CompanyReply, want.DomainDailyCap, want.Edit = true, nil, 1
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(*want, "UpdatedAt")); diff != "" || got.UpdatedAt == nil {
		t.Errorf("after it (-want +got):\n%s", diff)
	}
	if list := strings.Join(changed, " "); list != "blocked_countries domain_daily_cap postal_address stop_on" {
		t.Errorf("changed %s", list)
	}
	if diff := cmp.Diff(got, o.read()); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	again, changed, err := o.update(orgsending.Patch{PostalAddress: wire.Some(*want.PostalAddress)})
	if err != nil || changed != nil || again.Edit != 1 {
		t.Errorf("a patch that changes nothing: %+v, %v, %v", again, changed, err)
	}
	for country, want := range map[string]bool{"DE": true, "FR": false} {
		if got.Blocks(&country) != want {
			t.Errorf("%s is blocked: %t", country, !want)
		}
	}
	if got.Blocks(nil) {
		t.Error("a contact without a country is blocked")
	}
}

func TestAWrongSettingIsNamed(t *testing.T) {
	t.Parallel()
	o := open(t)
	for want, p := range map[string]orgsending.Patch{
		"#/postal_address too_long":           {PostalAddress: wire.Some(strings.Repeat("ä", 501))},
		"#/postal_address invalid_characters": {PostalAddress: wire.Some("a\x00")},
		"#/default_purpose not_allowed":       {DefaultPurpose: wire.Some("all")},
		"#/daily_cap out_of_range":            {DailyCap: wire.Some(0)},
		"#/domain_daily_cap out_of_range":     {DomainDailyCap: wire.Some(10_001)},
		"#/blocked_countries/1 invalid_country": {
			BlockedCountries: wire.Some([]string{"DE", "Germany"}),
		},
		"#/stop_on/reply not_nullable": {
			StopOn: wire.Some(orgsending.StopPatch{Reply: wire.Field[bool]{Set: true, Null: true}}),
		},
	} {
		_, _, err := o.update(p)
		f := fault.Of(err)
		if f == nil || len(f.Fields) != 1 || f.Fields[0].Pointer+" "+f.Fields[0].Code != want {
			t.Errorf("%s: %+v", want, err)
		}
	}
	if s := o.read(); s.Edit != 0 {
		t.Errorf("a refused patch changed %+v", s)
	}
}

var errStale = errors.New("stale")

func TestAStaleEditChangesNothing(t *testing.T) {
	t.Parallel()
	o := open(t)
	err := o.App.Tx(t.Context(), o.org, func(tx *postgres.Tx) error {
		_, _, err := orgsending.Update(t.Context(), tx, &orgsending.Patch{DailyCap: wire.Some(7)},
			func(s *orgsending.Settings) error {
				if s.Edit != 0 {
					t.Errorf("edit %d", s.Edit)
				}
				return errStale
			})
		return err
	})
	if s := o.read(); !errors.Is(err, errStale) || s.DailyCap != nil {
		t.Errorf("%v, %+v", err, s)
	}
}
