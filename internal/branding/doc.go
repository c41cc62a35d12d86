// Package branding knows what an org looks like to the people that it serves.
//
// # What is shown
//
// An org keeps settings: a name, four colours, a logo, an address for help, and the wish to hide the platform's name. What
// its plan lets it have of them is asked whenever something is shown. Show, a pure function of both, is the only place
// where they meet, and every surface (pages, mails, the public JSON) shows its answer. So a smaller plan takes no
// setting away: the platform's looks return with the right, and the org's own with the next larger plan.
//
// Mails follow the plan at the moment when they are sent (jobs/systemmail): they are stored as what they say, and dressed in
// a name then. The sender's address stays the platform's.
//
// A client of an agency that has set nothing of its own is shown in its agency's looks, and the agency's wish to hide
// the platform holds for all its clients. What has no name of its own and hides the platform's is shown without one.
//
// # Colours
//
// A colour is #RRGGBB and nothing else, so that it can stand in a style sheet. Of the four, these pairs are held to WCAG 2.2
// (palette.go): text on background, 4.5:1 (success criterion 1.4.3, Contrast (Minimum)); primary and accent against the
// background, 3:1 (1.4.11, Non-text Contrast). What is written on primary or accent is black or white, whichever stands
// out more: one of them always has 4.58:1. A pair below its bound is refused together with the nearest shade that
// passes: the same hue and saturation, its lightness moved by as few 510ths as will do.
//
// # Logos
//
// A logo is never served as it was sent. Rasters are decoded, within bounds that their headers are held to first, and
// written anew; of an SVG only what is known to be harmless is taken, and what could act or reach out is refused by name
// (logo.go, svg.go, svg_allowed.go). Its public address is the SHA-256 of its bytes. Mails show rasters alone, because
// mail programs do not show SVG.
//
// # Layout
//
// colour.go is one colour and its shades, palette.go the four and their rules. brand.go is the row, shown.go what follows
// from it, resolver.go the same for an org by its id, page.go the frame of every page.
package branding
