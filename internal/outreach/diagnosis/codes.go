package diagnosis

// senderCodes has the enhanced codes that speak of the sender whatever text they come with.
var senderCodes = map[string]Reason{
	// RFC 3463 section 3.2: the sender's address.
	"5.1.7": NotAllowed, "5.1.8": NotAllowed, "4.1.7": NotAllowed, "4.1.8": NotAllowed,
	// RFC 4954 section 6, and RFC 5248.
	"5.7.8": SignIn, "5.7.11": SignIn, "5.7.12": SignIn, "5.7.14": SignIn, "4.7.12": SignIn,
	// RFC 7372: DKIM, SPF, reverse DNS, DMARC. RFC 7505: the sender's domain takes no mail.
	"5.7.20": Unauthenticated, "5.7.21": Unauthenticated, "5.7.22": Unauthenticated, "5.7.23": Unauthenticated,
	"5.7.24": Unauthenticated, "5.7.25": Reputation, "5.7.26": Unauthenticated, "5.7.27": NotAllowed,
	"4.7.23": Unauthenticated, "4.7.24": Unauthenticated, "4.7.25": Reputation, "4.7.26": Unauthenticated,
	// Google: rates and daily limits.
	"5.4.5": SendingLimit,
	"4.4.5": SendingLimit, "4.7.28": SendingRate, "5.7.28": Reputation, "4.7.27": Unauthenticated,
	"4.7.29": Unauthenticated, "5.7.29": Unauthenticated, "4.7.30": Unauthenticated, "5.7.30": Unauthenticated,
	"4.7.32": Unauthenticated, "5.7.32": Unauthenticated,
	// Exchange Online: the account or the tenant.
	"5.1.90": SendingLimit, "5.2.252": NotAllowed, "5.7.57": SignIn, "5.7.60": NotAllowed, "5.7.3": SignIn,
	"5.7.139": SignIn,
	"5.7.501": AccountBlocked, "5.7.502": AccountBlocked, "5.7.503": AccountBlocked, "5.7.504": AccountBlocked,
	"5.7.507": Reputation, "5.7.508": Reputation, "5.7.509": Unauthenticated, "5.7.510": Reputation,
	"5.7.511": Reputation, "5.7.512": NotAllowed, "5.7.515": Unauthenticated, "5.7.705": SendingLimit,
	"5.7.708": AccountBlocked, "5.7.750": Unauthenticated, "4.7.500": SendingRate, "4.7.501": Reputation,
	"5.7.606": Reputation, "5.7.64": RelayDenied, "5.7.367": RelayDenied, "4.7.650": Reputation,
}

// codes has what an enhanced code means when the text says nothing. A code of three parts that is not here is
// looked up by its first two digits.
var codes = map[string]Diagnosis{
	// RFC 3463 section 3.2: the address.
	"5.1.0": {About: Recipient, Reason: NoSuchAddress}, "5.1.1": {About: Recipient, Reason: NoSuchAddress},
	"5.1.2": {About: Recipient, Reason: NoSuchAddress}, "5.1.3": {About: Recipient, Reason: NoSuchAddress},
	"5.1.4": {About: Recipient, Reason: NoSuchAddress}, "5.1.6": {About: Recipient, Reason: Closed},
	"5.1.10": {About: Recipient, Reason: NoSuchAddress}, // RFC 7505: null MX; Exchange Online: no such recipient
	"4.1.1":  {About: Recipient, Reason: Unavailable}, "4.1.2": {About: Network, Reason: NoRoute},
	// Exchange Online.
	"5.1.350": {About: Recipient, Reason: NoSuchAddress}, "5.1.351": {About: Recipient, Reason: NoSuchAddress},
	"5.4.310": {About: Recipient, Reason: NoSuchAddress}, "5.4.300": {About: Network, Reason: NoRoute},
	"5.4.316": {About: Network, Reason: NoRoute}, "5.4.14": {About: Network, Reason: Loop},
	// RFC 3463 section 3.3: the mailbox.
	"5.2.0": {About: Recipient, Reason: Unavailable}, "5.2.1": {About: Recipient, Reason: Closed},
	"5.2.2": {About: Recipient, Reason: Full}, "5.2.3": {About: Message, Reason: TooLarge},
	"5.2.4": {About: Recipient, Reason: Unavailable}, "4.2.1": {About: Recipient, Reason: Unavailable},
	"4.2.2": {About: Recipient, Reason: Full}, "4.2.0": {About: Recipient, Reason: Unavailable},
	// RFC 3463 section 3.4: the system.
	"5.3.0": {About: Network, Reason: ServerError}, "5.3.1": {About: Network, Reason: Busy},
	"5.3.2": {About: Network, Reason: Busy}, "5.3.3": {About: Network, Reason: ServerError},
	"5.3.4": {About: Message, Reason: TooLarge}, "5.3.5": {About: Network, Reason: ServerError},
	"4.3.0": {About: Network, Reason: ServerError}, "4.3.1": {About: Network, Reason: Busy},
	"4.3.2": {About: Network, Reason: Busy},
	// RFC 3463 section 3.5: the way. 5.4.4 is an address whose host nobody can find.
	"5.4.4": {About: Recipient, Reason: NoSuchAddress}, "5.4.6": {About: Network, Reason: Loop},
	"5.4.1": {About: Network, Reason: NoRoute}, "4.4.6": {About: Network, Reason: Loop},
	"5.4.": {About: Network, Reason: NoRoute}, "4.4.": {About: Network, Reason: NoRoute},
	// RFC 3463 sections 3.6 and 3.7: the protocol, the message.
	"5.5.": {About: Message, Reason: Malformed}, "4.5.": {About: Message, Reason: Malformed},
	"5.6.": {About: Message, Reason: Content}, "4.6.": {About: Message, Reason: Content},
	// RFC 3463 section 3.8: policy.
	"5.7.0": {About: Message, Reason: Content},
	"5.7.1": {About: Message, Reason: Content}, "5.7.9": {About: Sender, Reason: SignIn},
	"5.7.": {About: Message, Reason: Content}, "4.7.": {About: Sender, Reason: SendingRate},
}

// replyCodes has what a reply code means without an enhanced code and without words (RFC 5321 section 4.2.3).
var replyCodes = map[int]Diagnosis{
	550: {About: Recipient, Reason: NoSuchAddress}, 551: {About: Recipient, Reason: NoSuchAddress},
	553: {About: Recipient, Reason: NoSuchAddress}, 556: {About: Recipient, Reason: NoSuchAddress}, // RFC 7504
	552: {About: Recipient, Reason: Full}, 450: {About: Recipient, Reason: Unavailable},
	452: {About: Network, Reason: Busy},
	451: {About: Network, Reason: ServerError}, 421: {About: Network, Reason: Busy},
	521: {About: Message, Reason: Content}, 554: {About: Message, Reason: Content},
	571: {About: Message, Reason: Content},
	530: {About: Sender, Reason: SignIn}, 534: {About: Sender, Reason: SignIn}, 535: {About: Sender, Reason: SignIn},
	538: {About: Sender, Reason: SignIn}, 454: {About: Sender, Reason: SendingRate},
	432: {About: Sender, Reason: SendingRate},
}
