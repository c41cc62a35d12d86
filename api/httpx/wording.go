package httpx

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2/validation"
)

// Wording is the text of a validation error and its code in errors[].
type Wording struct {
	Text string // format with %s verbs only, see phrase
	code string
}

// ValidationWordings pairs huma's variables for validation messages with our texts. A test compares the table with the
// library's list.
var ValidationWordings = []struct {
	At *string
	Wording
}{
	{&validation.MsgUnexpectedProperty, Wording{noField, "unknown_field"}},
	{
		&validation.MsgExpectedRFC3339DateTime,
		Wording{"The value must be an RFC 3339 time, such as 2026-01-31T00:00:00Z.", "invalid_format"},
	},
	{
		&validation.MsgExpectedRFC1123DateTime,
		Wording{"The value must be an HTTP date, such as Sat, 31 Jan 2026 00:00:00 GMT.", "invalid_format"},
	},
	{&validation.MsgExpectedRFC3339Date, Wording{"The value must be a date as YYYY-MM-DD.", "invalid_format"}},
	{&validation.MsgExpectedRFC3339Time, Wording{"The value must be a time of day as HH:MM:SS.", "invalid_format"}},
	{&validation.MsgExpectedRFC5322Email, Wording{"The value must be an email address.", "invalid_format"}},
	{&validation.MsgExpectedRFC5890Hostname, Wording{"The value must be the name of a host.", "invalid_format"}},
	{&validation.MsgExpectedRFC2673IPv4, Wording{"The value must be an IPv4 address.", "invalid_format"}},
	{&validation.MsgExpectedRFC2373IPv6, Wording{"The value must be an IPv6 address.", "invalid_format"}},
	{&validation.MsgExpectedRFCIPAddr, Wording{"The value must be an IP address.", "invalid_format"}},
	{&validation.MsgExpectedRFC3986URI, Wording{"The value must be a URL.", "invalid_format"}},
	{&validation.MsgExpectedRFC4122UUID, Wording{"The value must be a UUID.", "invalid_format"}},
	{&validation.MsgExpectedRFC6570URITemplate, Wording{"The value must be a URL template.", "invalid_format"}},
	{&validation.MsgExpectedRFC6901JSONPointer, Wording{"The value must be a JSON pointer.", "invalid_format"}},
	{
		&validation.MsgExpectedRFC6901RelativeJSONPointer,
		Wording{"The value must be a relative JSON pointer.", "invalid_format"},
	},
	{&validation.MsgExpectedRegexp, Wording{"The value must be a regular expression.", "invalid_format"}},
	{
		&validation.MsgExpectedMatchAtLeastOneSchema,
		Wording{"The value must have one of the forms that /openapi.json gives it.", "invalid_type"},
	},
	// A test compares the forms in the next sentence with the API document.
	{
		&validation.MsgExpectedMatchExactlyOneSchema,
		Wording{"The value must be a text or an array of texts.", "invalid_type"},
	},
	{&validation.MsgExpectedNotMatchSchema, Wording{"The value has a form that is not allowed.", "invalid_type"}},
	{&validation.MsgExpectedPropertyNameInObject, Wording{"The object must say what kind it is of.", "required"}},
	{&validation.MsgExpectedBoolean, Wording{"The value must be true or false.", "invalid_type"}},
	{&validation.MsgExpectedDuration, Wording{"The value must be a duration, such as 90s.", "invalid_format"}},
	{&validation.MsgExpectedNumber, Wording{"The value must be a number.", "invalid_type"}},
	{&validation.MsgExpectedInteger, Wording{"The value must be a whole number.", "invalid_type"}},
	{&validation.MsgExpectedString, Wording{"The value must be a text.", "invalid_type"}},
	{&validation.MsgExpectedBase64String, Wording{"The value must be base64.", "invalid_format"}},
	{&validation.MsgExpectedArray, Wording{"The value must be an array.", "invalid_type"}},
	{&validation.MsgExpectedObject, Wording{"The value must be an object.", "invalid_type"}},
	{&validation.MsgExpectedArrayItemsUnique, Wording{"The array must not have the same element twice.", "repeated"}},
	{&validation.MsgExpectedOneOf, Wording{"The value must be one of: %s.", "not_allowed"}},
	{&validation.MsgExpectedMinimumNumber, Wording{"The number must be at least %s.", "out_of_range"}},
	{&validation.MsgExpectedExclusiveMinimumNumber, Wording{"The number must be more than %s.", "out_of_range"}},
	{&validation.MsgExpectedMaximumNumber, Wording{"The number must be at most %s.", "out_of_range"}},
	{&validation.MsgExpectedExclusiveMaximumNumber, Wording{"The number must be less than %s.", "out_of_range"}},
	{&validation.MsgExpectedNumberBeMultipleOf, Wording{"The number must be a multiple of %s.", "out_of_range"}},
	{&validation.MsgExpectedMinLength, Wording{"The text must have at least %s character%s.", "too_short"}},
	{&validation.MsgExpectedMaxLength, Wording{"The text must have at most %s character%s.", "too_long"}},
	{&validation.MsgExpectedBePattern, Wording{"The text must be %s.", "invalid_format"}},
	{&validation.MsgExpectedMatchPattern, Wording{"The text must match the pattern %s.", "invalid_format"}},
	{&validation.MsgExpectedMinItems, Wording{"The array must have at least %s element%s.", "too_few"}},
	{&validation.MsgExpectedMaxItems, Wording{"The array must have at most %s element%s.", "too_many"}},
	{&validation.MsgExpectedMinProperties, Wording{"The object must have at least %s member%s.", "too_few"}},
	{&validation.MsgExpectedMaxProperties, Wording{"The object must have at most %s member%s.", "too_many"}},
	{&validation.MsgExpectedRequiredProperty, Wording{requiredMember, "required"}},
	{&validation.MsgExpectedDependentRequiredProperty, Wording{"The field %s must be given with %s.", "required"}},
}

// fixedWordings are our texts for messages without a variable in huma, by the beginning of huma's text.
var fixedWordings = []struct {
	prefix string
	Wording
}{
	{"required ", Wording{"This parameter is required.", "required"}},
	{"unknown query parameter", Wording{"This operation knows no such parameter.", "unknown_parameter"}},
	{"expected at most one value", Wording{"A parameter may be given once.", "repeated"}},
	{"expected value to match exactly one schema but", Wording{"The value must have one form.", "invalid_type"}},
	{"write only property", Wording{"This field is never shown.", "invalid"}},
	{"invalid integer", Wording{"The value must be a whole number.", "invalid_format"}},
	{"invalid float", Wording{"The value must be a number.", "invalid_format"}},
	{"invalid boolean", Wording{"The value must be true or false.", "invalid_format"}},
	{
		"invalid date/time",
		Wording{"The value must be an RFC 3339 time, such as 2026-01-31T00:00:00Z.", "invalid_format"},
	},
	{"invalid url", Wording{"The value must be a URL.", "invalid_format"}},
	{"request body is required", Wording{"This needs a JSON body.", "required"}},
}

const (
	noField        = "There is no such field. Names match exactly."
	requiredMember = "This field is required: %s."
	notValid       = "The value is not valid."
)

// WordingOf returns our text and code for a message of huma's. An unknown message is never shown; it gets a generic
// text.
func WordingOf(message string) Wording {
	if kind, _, ok := MisfitOf(message); ok {
		return Wording{misfitText(kind), "invalid_type"}
	}

	for _, w := range ValidationWordings {
		if begin, _, _ := strings.Cut(w.Text, "%s"); strings.HasPrefix(message, begin) {
			return Wording{message, w.code}
		}
	}

	for _, w := range fixedWordings {
		if strings.HasPrefix(message, w.prefix) {
			return w.Wording
		}
	}

	return Wording{notValid, "invalid"}
}

// formatPhrase replaces huma's formatter. It formats numbers without exponent, adds a plural suffix to counts, and
// drops errors, since their texts come from Go and the library.
func formatPhrase(format string, args ...any) string {
	texts := make([]any, 0, 2*len(args))
	for _, arg := range args {
		switch v := arg.(type) {
		case error:
		case float64:
			texts = append(texts, strconv.FormatFloat(v, 'f', -1, 64))
		case int:
			texts = append(texts, strconv.Itoa(v), pluralSuffix(v))
		default:
			texts = append(texts, fmt.Sprint(v))
		}
	}

	return fmt.Sprintf(format, texts...)
}

func pluralSuffix(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Misfit is the prefix of the message about a value that does not fit a field's Go type. The type's kind and the
// member's path follow, separated by a colon.
const Misfit = "does not fit "

// MisfitOf returns the parts of a message that begins with Misfit.
func MisfitOf(message string) (kind, path string, ok bool) {
	about, ok := strings.CutPrefix(message, Misfit)
	if !ok {
		return "", "", false
	}
	kind, path, _ = strings.Cut(about, ":")
	return kind, path, true
}

// misfitText returns the sentence that describes a valid value of the kind.
func misfitText(kind string) string {
	switch kind {
	case reflect.Bool.String():
		return "The value must be true or false."
	case reflect.String.String():
		return "The value must be a text."
	case reflect.Slice.String(), reflect.Array.String():
		return "The value must be an array."
	case reflect.Struct.String(), reflect.Map.String():
		return "The value must be an object."
	case reflect.Float32.String(), reflect.Float64.String():
		return "The value must be a number."
	case reflect.Int.String(), reflect.Int64.String():
		return "The value must be a whole number from -9223372036854775808 to 9223372036854775807."
	case reflect.Int32.String():
		return "The value must be a whole number from -2147483648 to 2147483647."
	case reflect.Int16.String():
		return "The value must be a whole number from -32768 to 32767."
	default:
		return "The value has a wrong type or is out of range."
	}
}
