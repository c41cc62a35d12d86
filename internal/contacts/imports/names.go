package imports

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/funnelwork/funnelwork/internal/contacts"
)

const attribute = "attributes."

// company is the field of a column with names or domains of companies. Only a mapping, or an import that makes
// companies, has it: otherwise the names stay in a custom field.
const company = "company"

// fullName is the field of a column with whole names, which are split into first and last name.
const fullName = "full_name"

// fields lists the built-in fields that a column can be mapped to.
var fields = slices.Concat([]string{"id", "email", "first_name", "last_name", fullName}, contacts.TextNames(),
	contacts.ConsentNames(), []string{
		"company_id", company, "owner_id", "stage", "tag", "segment", "created_at",
	})

// ignored lists export columns that an import cannot set. id is ignored unless the mapping names it, because the file
// may come from another org with unknown ids.
var ignored = []string{
	"id", "lead_score", "score", "probability", "confidence", "model_version", "updated_at",
	"archived_at",
}

// aliases maps fields to the names of their columns in the files of HubSpot, Salesforce, Pipedrive, Zoho, Mailchimp,
// Brevo, ActiveCampaign, Shopify, Google, Outlook, LinkedIn and Apple, in plain form and the best name first. They are
// in English, German, French, Spanish, Portuguese, Italian and Dutch.
var aliases = map[string]string{
	"email": `email email_address e_mail e_mail_address mail mail_address primary_email email_1 e_mail_1_value
		email_work work_email business_email email_primary emails e_mails e_mail_adresse email_adresse mailadresse
		mail_adresse adresse_e_mail adresse_email adresse_mail adresse_de_messagerie courriel adresse_electronique
		correo correo_electronico direccion_de_correo direccion_de_correo_electronico direccion_de_email
		endereco_de_email endereco_de_e_mail endereco_de_correio_eletronico endereco_de_correio_electronico
		correio_eletronico correio_electronico indirizzo_e_mail indirizzo_email indirizzo_mail
		indirizzo_di_posta_elettronica posta_elettronica e_mailadres emailadres mailadres email_id subscriber_email
		home_email email_home personal_email email_other secondary_email alternate_email additional_email email_2
		e_mail_2 e_mail_2_value e_mail_2_address email_address_2 email_3 e_mail_3_address e_mail_3_value`,
	"first_name": `first_name firstname given_name forename fname first vorname prenom prenoms primer_nombre nombres
		nombre_de_pila primeiro_nome nome_proprio nome_di_battesimo voornaam roepnaam`,
	"last_name": `last_name lastname surname family_name lname last second_name nachname familienname zuname
		nom_de_famille apellido apellidos primer_apellido sobrenome apelido apelidos ultimo_nome cognome cognomi
		achternaam familienaam`,
	fullName: `full_name fullname name display_name contact_name complete_name person_name customer_name lead_name
		your_name names vollstandiger_name voller_name ganzer_name vor_und_nachname vorname_nachname ansprechpartner
		kontaktname anzeigename nom nom_complet prenom_et_nom nom_et_prenom prenom_nom nombre nombre_completo
		nombre_y_apellidos nombre_y_apellido nome nome_completo nome_e_cognome nome_e_sobrenome nominativo naam
		volledige_naam contactpersoon`,
	"phone": `phone phone_number telephone telephone_number tel phone_1 phone_1_value primary_phone work_phone
		phone_work business_phone company_main_phone phone_primary sms mobile mobile_phone mobile_number
		mobile_phone_number phone_mobile cell cell_phone cellphone cell_number whatsapp whatsapp_number
		telefon telefonnummer tel_nr telefon_geschaftlich geschaftlich_telefon rufnummer mobil mobiltelefon
		mobilnummer mobilfunk handy handynummer telephone_bureau telephone_professionnel telephone_portable
		telephone_mobile tel_mobile portable numero_de_telephone telefono numero_de_telefono telefono_del_trabajo
		telefono_movil movil celular telefono_celular telefone numero_de_telefone telefone_comercial telemovel
		numero_di_telefono telefono_ufficio cellulare telefono_cellulare telefoon telefoonnummer mobiel
		mobiele_telefoon mobiel_nummer default_address_phone home_phone phone_home other_phone phone_other
		business_phone_2 home_phone_2 phone_2 phone_2_value phone_3_value assistant_phone phone_number_2`,
	"job_title": `job_title jobtitle title position job job_position job_role role organization_title organization_1_title berufsbezeichnung jobtitel stelle funktion beruf fonction poste intitule_du_poste titre_du_poste puesto cargo puesto_de_trabajo titulo_del_trabajo ocupacion funcao profissao titulo_do_cargo qualifica ruolo posizione mansione posizione_lavorativa functie functietitel functieomschrijving beroep`, //nolint:lll // one line names the column
	"source": `source lead_source original_source utm_source contact_source quelle leadquelle lead_quelle
		source_du_prospect fuente origen fuente_del_lead origem fonte origine bron leadbron`,
	"time_zone": `time_zone timezone iana_time_zone zeitzone fuseau_horaire zona_horaria fuso_horario fuso_orario
		tijdzone`,
	"company_id": `company_id company_uuid`,
	company: `company company_name organization organisation account account_name associated_company
		associated_company_primary current_company company_domain company_domain_name organization_name
		organisation_name organization_1_name employer business firma firmenname unternehmen unternehmensname
		arbeitgeber entreprise societe nom_de_l_entreprise nom_de_la_societe empresa compania nombre_de_la_empresa
		organizacion nome_da_empresa organizacao azienda societa nome_azienda ragione_sociale organizzazione bedrijf
		bedrijfsnaam organisatie default_address_company`,
	"owner_id": `owner_id owner owner_email contact_owner record_owner lead_owner account_owner assigned_to
		assigned_user sales_owner person_owner besitzer eigentumer zustandig kontakt_besitzer proprietaire
		proprietario propietario propietario_del_contacto responsable eigenaar`,
	"stage": `stage lifecycle_stage lifecyclestage contact_stage lead_stage lebenszyklus_phase lifecycle_phase phase
		etape etape_du_cycle_de_vie etapa etapa_del_ciclo_de_vida estagio fase fase_del_ciclo_di_vita levenscyclusfase`,
	"tag": `tag tags labels label categories category person_label person_labels schlagworter schlagworte
		kategorien kategorie etiquettes etiquette categorie etiquetas etiqueta categorias categoria etichette
		etichetta labels_tags tagsliste markeringen trefwoorden`,
	"segment": `segment segments lists list_membership`,
	"created_at": `created_at created create_date created_date date_created created_time creation_date createdate
		date_added added_time added_at added_on date_of_creation person_created contact_created signup_date
		registered_at erstellt erstellt_am erstellungsdatum angelegt_am hinzugefugt_am anlagedatum date_de_creation
		cree_le date_d_ajout fecha_de_creacion creado creado_el data_de_criacao criado_em data_creazione
		data_di_creazione creato_il aangemaakt aanmaakdatum aangemaakt_op datum_toegevoegd`,
	"country": `country country_code country_region mailing_country mailing_country_code billing_country
		default_address_country_code default_address_country address_country business_country_region
		business_country work_country address_1_country shipping_country home_country_region home_country
		other_country other_country_region cc ip_country land landercode land_region land_code
		land_region_geschaftlich pays code_pays pays_region pais codigo_de_pais pais_region codigo_do_pais paese
		codice_paese paese_area_geografica nazione landcode`,
}

// rank is a field and the place of a name among the field's names.
type rank struct {
	field string
	place int
}

// ranks holds the fields of the names of columns.
var ranks = func() map[string]rank {
	all := map[string]rank{}
	for field, names := range aliases {
		for place, name := range strings.Fields(names) {
			all[name] = rank{field, place}
		}
	}
	for _, field := range fields {
		if _, is := all[field]; !is && field != "id" { // only a mapping names it, see ignored
			all[field] = rank{field: field}
		}
	}
	return all
}()

// prefixes are what products write in front of a column's name, such as "Person - Phone".
var prefixes = []string{"person_", "contact_", "lead_", "subscriber_", "customer_", "people_", "properties_"}

// plain returns a column name in lower case, without accents, with an underscore between its words.
func plain(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFD.String(strings.ToLower(name)) {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// rankOf returns the field that a column's name means, and false if there is none.
func rankOf(name string) (rank, bool) {
	word := plain(name)
	if r, is := ranks[word]; is {
		return r, true
	}
	for _, p := range prefixes {
		if rest, is := strings.CutPrefix(word, p); is {
			if r, is := ranks[rest]; is {
				return r, true
			}
		}
	}
	return rank{}, false
}

// knownName reports whether a cell is the usual name of a column.
func knownName(cell string) bool {
	if len(cell) > 100 {
		return false
	}
	_, is := rankOf(cell)
	return is
}
