// Package branding determines how an org appears to its visitors and recipients.
//
// # What is shown
//
// An org stores settings: a name, four colours, a logo, a support address, and whether to hide the platform's name. Its
// plan decides at display time which of them apply. Show, a pure function of settings and rights, is the only place
// that combines them, and every surface (pages, mails, the public JSON) uses its result. A downgrade therefore deletes
// no setting: the platform's look returns when the right ends, and the org's own returns with the next upgrade.
//
// Mails follow the plan at the time of sending (jobs/mailsystem): they are stored as templates and get a name when they
// are sent. The sender's address is always the platform's.
//
// A client org without its own settings appears in its agency's look. The agency's setting to hide the platform applies
// to all its client orgs. A tenant that has no name and hides the platform's is shown without a name.
//
// # Colours
//
// A colour is always #RRGGBB, so it is safe in a style sheet. Of the four colours, these pairs must conform to WCAG 2.2
// (palette.go): text on background, 4.5:1 (success criterion 1.4.3, Contrast (Minimum)); primary and accent against the
// background, 3:1 (1.4.11, Non-text Contrast). Text on primary or accent is black or white, whichever has the higher
// contrast: one of them always has at least 4.58:1. A pair below its bound is rejected with the nearest shade that
// passes: the same hue and saturation, with the smallest change of lightness in 510ths.
//
// # Logos
//
// A logo is never served as it was uploaded. Raster images are decoded, after their headers are checked against limits,
// and re-encoded. Of an SVG, only elements known to be harmless are kept; an element that could run code or load
// resources is rejected by name (logo.go, svg.go, svg_allowed.go). A logo's public path is the SHA-256 of its bytes.
// Mails show only raster images, because mail programs do not show SVG.
//
// # Layout
//
// colour.go has colours and shades, palette.go the four colours and their rules. brand.go has the stored row, shown.go
// the resulting appearance, resolver.go the look-up by org id, page.go the layout of every page.
package branding
