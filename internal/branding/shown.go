package branding

// PlatformName is what the platform calls itself.
const PlatformName = "Funnelwork"

// Rights are what an org's plan lets it show.
type Rights struct {
	WhiteLabel bool // a name, colours and a logo of its own
	HideBrand  bool // not the platform's
}

// Party is an org's settings and what it may show of them.
type Party struct {
	Settings Settings
	Rights   Rights
}

// Shown is what people see. It is a value: two that are equal look the same.
type Shown struct {
	Name         string  // who speaks; "" where the platform is hidden and there is no other name
	Colors       Palette // no pair of it is below its bound
	Logo         LogoInfo
	SupportEmail string // "" for none
	// Hidden says that the platform is not to be named. Otherwise it names itself, beside the org's name where that has one.
	Hidden bool
}

// Platform is what is shown of no org.
var Platform = Shown{Name: PlatformName, Colors: DefaultPalette}

// Nobody is what is shown where it cannot be found out whose looks they should be.
var Nobody = Shown{Colors: DefaultPalette, Hidden: true}

// Show is what follows from an org's settings and rights, and from those of the agency that it is a client of (nil for any
// other org). Nothing else decides what a surface shows.
func Show(own Party, agency *Party) Shown {
	looks := own
	if agency != nil && !own.may() {
		looks = *agency
	}
	out := Platform
	out.Hidden = own.hides() || agency != nil && agency.hides()
	if out.Hidden {
		out.Name = ""
	}
	if !looks.may() {
		return out
	}
	s := &looks.Settings
	if s.Name != nil {
		out.Name = *s.Name
	}
	if p := s.Palette(); len(p.Clashes()) == 0 {
		out.Colors = p
	}
	if s.Logo != nil {
		out.Logo = *s.Logo
	}
	if s.SupportEmail != nil {
		out.SupportEmail = *s.SupportEmail
	}
	return out
}

// may tells whether there are looks that may be shown.
func (p *Party) may() bool {
	return p.Rights.WhiteLabel && (p.Settings.Own() || p.Settings.SupportEmail != nil)
}

// hides tells whether the platform is hidden: wished, and within the plan.
func (p *Party) hides() bool { return p.Settings.HideBrand && p.Rights.HideBrand }

// PoweredBy is the platform's name where it stands beside another's, else "".
func (s *Shown) PoweredBy() string {
	if s.Hidden || s.Name == PlatformName {
		return ""
	}
	return PlatformName
}
