// Package advice says in words why a mail server could not be used, and what to do about it: from what the server
// replied, from its certificate, and from how the connection failed. The providers' own words decide; the tables of
// the tests have them.
package advice
