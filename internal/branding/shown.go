package branding

// PlatformName is the platform's name.
const PlatformName = "Funnelwork"

// Rights are the branding features of an org's plan.
type Rights struct {
	WhiteLabel bool // own name, colours and logo
	HideBrand  bool // may hide the platform's name
}

// Tenant is an org's settings and its rights to them.
type Tenant struct {
	Settings Settings
	Rights   Rights
}

// Shown is the appearance of an org. Equal values look the same.
type Shown struct {
	Name         string  // "" if the platform is hidden and there is no other name
	Colors       Palette // without clashes
	Logo         LogoInfo
	SupportEmail string // "": none
	// Hidden means that the platform must not be named. Otherwise its name is shown, next to the org's name if there is
	// one.
	Hidden bool
}

// Platform is the appearance without an org.
var Platform = Shown{Name: PlatformName, Colors: DefaultPalette}

// Nobody is the neutral appearance to use when the org cannot be determined.
var Nobody = Shown{Colors: DefaultPalette, Hidden: true}

// Show returns the appearance that follows from an org's settings and rights, and from those of its agency (nil unless
// it is a client org). Nothing else decides what a surface shows.
func Show(own Tenant, agency *Tenant) Shown {
	looks := own
	if agency != nil && !own.mayShow() {
		looks = *agency
	}

	out := Platform
	out.Hidden = own.hidesPlatform() || agency != nil && agency.hidesPlatform()
	if out.Hidden {
		out.Name = ""
	}

	if !looks.mayShow() {
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

// mayShow reports whether the tenant has settings that it may show.
func (p *Tenant) mayShow() bool {
	return p.Rights.WhiteLabel && (p.Settings.Own() || p.Settings.SupportEmail != nil)
}

// hidesPlatform reports whether the platform is hidden: set, and permitted by the plan.
func (p *Tenant) hidesPlatform() bool { return p.Settings.HideBrand && p.Rights.HideBrand }

// PoweredBy returns the platform's name if it is shown next to another name, otherwise "".
func (s *Shown) PoweredBy() string {
	if s.Hidden || s.Name == PlatformName {
		return ""
	}
	return PlatformName
}
