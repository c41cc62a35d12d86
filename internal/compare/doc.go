// Package compare decides which texts are equal: tags, stages, keys, names, values of filters, search words and
// addresses are compared in the forms that it returns, and shown as they were written.
//
// # Texts
//
// Text applies Unicode's full case folding (ß equals SS, ς equals σ) and NFC, removes invisible characters (zero
// width spaces and joiners, soft hyphens, byte order marks, variation selectors, directional marks, control
// characters), trims blanks of any kind and collapses their runs to one space. Letters with and without accents
// differ.
//
// # Addresses
//
// Address compares the local part as a text, and the domain as the DNS does: in its ASCII form (A-labels), so that
// info@bücher.example and info@xn--bcher-kva.example are one address.
//
// # Search
//
// Words and Indexed are for searching, which forgives more: José is found by jose, Øre by ore. Scripts that put no
// blank between words (Han, Kana, Hangul, Thai and their kin) are found from any of their characters on.
//
// All forms are idempotent, and equal for canonically equivalent texts. They are stored in columns and indexes: a
// change of one needs a new Version, so that stored forms are computed again.
package compare

// Version is the version of the forms. A row that was stored under an older version is refolded.
const Version = 1
