package classify

// romanceWords has the words of Romance languages.
var romanceWords = []words{
	{ // French
		unsubscribe: `desabonn\w+|desinscri\w+|desabonnement|resilier (?:mon|notre) (?:abonnement|inscription)`,
		remove:      `retir\w+|supprim\w+|enlev\w+|effac\w+|ray\w+|ot(?:er|ez)|radi\w+|exclu\w+|suppression|retrait`,
		me: `m'|me|moi|nous|mon|mes|ma|notre (?:adresse|e-?mail|societe|mail|contact)|nos (?:coordonnees|` +
			`donnees)|cette adresse|(?:l')?adresse`,
		list: `listes?|fichiers?|base\w*|diffusion|newsletter\w*|carnet|registres?|mailing\w*|contacts|` +
			`repertoire|envois|donnees`,
		mails: `e-?mails?|mails?|courriels?|messages?|newsletters?|publicites?|pub|sollicitations?|offres|` +
			`courriers?|prospection|envois|spams?|` +
			`informations|rien`,
		stop: `arret\w+|cess\w+|stop\w*|suspend\w+|mettre fin|evit\w+`,
		write: `ecri\w+|contact\w+|envoy\w+|envoi\w*|sollicit\w+|relanc\w+|derang\w+|importun\w+|spamm\w+|` +
			`adress\w+|demarch\w+|mailer`,
		not:    `ne|n'|plus|pas`,
		more:   `plus|davantage|jamais`,
		want:   `veu\w+|souhait\w+|desir\w+|voul\w+|voudr\w+|interess\w+|aimer\w+`,
		get:    `recevoir|recois|recev\w+|avoir|etre (?:contact\w+|sollicit\w+|demarch\w+)|entendre`,
		cannot: `pouv\w+|peu[xt]|dois|devons|avant|d'ici|pourr\w+`,
		other: `fournisseur\w*|contrat\w*|ligne\w*|devis|frais|reunion|rendez-vous|facture\w*|commande\w*|article|` +
			`remise|prestataire|assurance|` +
			`option|clause|concurrent\w*`,
		person: `lui|collegue\w*|monsieur|madame|mme|m\.|mr|clients?|destinataires|utilisateurs|assistant\w*`,
		phrases: `^(?:stop|desinscription|desabonnement|arret|suppression)(?: svp| merci| s'il vous plait)?$|` +
			`stop aux? (?:e-?mails?|mails?|messages|spams?|pubs?)|` +
			`plus (?:de|aucun) (?:e-?mails?|mails?|courriels?|messages?|newsletters?|publicites?|sollicitations?|` +
			`pub)|` +
			`(?:laissez|laisse|fichez)[- ](?:moi|nous) (?:tranquilles?|en paix|la paix)|m'oppose.{0,50}(?:donnees|` +
			`prospection|traitement)|` +
			`retire\w* mon consentement`,
	},
	{ // Spanish
		unsubscribe: `(?:dar|darme|darnos|denme|deme|dadme|dame|dennos|denos|dando|dado) (?:\w+ ){0,1}de baja|` +
			`de baja de (?:su|la|esta|vuestra) (?:lista|boletin|newsletter|base)|` +
			`desuscri\w+|desapunt\w+|(?:borr|elimin|quit|saqu|suprim|retir|exclu)\w*(?:me|nos)|cancelar (?:mi |la |` +
			`esta )?(?:suscripcion|inscripcion)|cancel\w+ mi suscripcion|borrarme|quitarme|anular (?:mi |` +
			`la )?suscripcion`,
		remove: `borr\w+|elimin\w+|quit\w+|suprim\w+|retir\w+|exclu\w+|da(?:r|d|me|nos) de baja|den de baja|den`,
		me: `me|\w+(?:me|nos)|mi|mis|nos|nuestr\w+ (?:correo|direccion|datos|empresa|email)|esta direccion|` +
			`este correo`,
		list: `listas?|base\w*|registros?|distribucion|boletin\w*|newsletter\w*|fichero\w*|archivos?|sistema|` +
			`contactos|datos|mailing\w*`,
		mails: `correos?|e-?mails?|mails?|mensajes?|publicidad|boletin\w*|newsletters?|ofertas|spam|` +
			`comunicacion\w*|informacion|nada`,
		stop:   `dej(?:a|e|en|ad|ar|as)|par(?:a|e|en|ad|ar) de|ces(?:a|e|en|ar)|basta de|abst\w+`,
		write:  `escrib\w+|envi\w+|mand\w+|contact\w+|molest\w+|comuni\w+|spam\w*|insist\w+|remit\w+`,
		not:    `no|nunca|jamas|ni`,
		more:   `mas|nunca|jamas|volver|vuelv\w+`,
		want:   `quier\w+|dese\w+|quisier\w+|interes\w+|gust\w+|querem\w+|necesit\w+`,
		get:    `recib\w+|tener|saber|ser contactad\w+`,
		cannot: `pod(?:emos|er|ria\w*)|pued\w+|hasta|antes de|hoy|estoy de baja|medica`,
		other: `proveedor\w*|contrato\w*|linea\w*|presupuesto|coste\w*|gastos|reunion|factura\w*|pedido\w*|` +
			`articulo|descuento|servicio|seguro|cita|envio`,
		person: `companer\w+|senor\w*|sra?\.?|clientes|usuarios|destinatarios|el senor|a (?:juan|maria|el|ella)`,
		phrases: `^(?:baja|stop|alto|basta)(?: por favor)?$|(?:ni un|ningun|no mas|basta de) (?:correos?|e-?mails?|` +
			`mails?|mensajes?|publicidad|spam)|` +
			`(?:dej\w+me|dej\w+nos) en paz|me opongo.{0,50}(?:datos|publicidad|tratamiento)|retiro mi consentimiento`,
	},
	{ // Italian
		unsubscribe: `disiscri\w+|(?:cancell|rimuov|togli|toglie|elimin|depenn|esclud)\w*(?:temi|ami|imi|armi|ermi|` +
			`teci|arci)|cancell(?:atemi|ami|armi|arci|ateci|i la mia|ate la mia|are la mia)|cancellazione|` +
			`annulla\w* (?:la |l')?(?:iscrizione|abbonamento)|` +
			`cancell\w+ (?:la (?:mia )?)?iscrizione`,
		remove: `cancell\w+|rimuov\w+|rimoz\w+|togli\w+|toglie\w+|elimin\w+|depenn\w+|escl\w+`,
		me: `mi|\w+(?:temi|mi|teci|ci)|ci|mio|mia|miei|nostr\w+ (?:indirizzo|dati|mail|email|contatto)|` +
			`questo indirizzo|(?:l')?indirizzo`,
		list: `list[ae]|mailing\w*|database|archivi\w*|newsletter\w*|rubrica|contatti|banca|elenc\w+|sistema|` +
			`registr\w+|dati|indirizzario`,
		mails:  `e-?mails?|mail|messaggi\w*|newsletter\w*|pubblicita|posta|comunicazion\w*|offerte|spam|nulla|niente`,
		stop:   `smett\w+|finit\w+|ferm\w+|basta|evit\w+|stop|sospend\w+|interromp\w+|cess\w+`,
		write:  `scriv\w+|contatt\w+|invi\w+|mand\w+|disturb\w+|sped\w+|spamm\w+|import\w+ un`,
		not:    `non|mai|ne`,
		more:   `piu|mai|ulterior\w+|altr[ei]`,
		want:   `vogli\w+|desider\w+|vorre\w+|gradi\w+|interess\w+|intend\w+`,
		get:    `ricev\w+|avere|sentire|essere contattat\w+`,
		cannot: `poss(?:o|iamo)|puo|prima d\w+|fino a|devo|dobbiamo`,
		other: `fornitor\w*|contratt\w*|rig[ah]e?|preventivo|riunione|appuntamento|fattur\w*|ordin\w+|sconto|` +
			`cost[oi]|spese|articol\w*|servizio|assicurazione`,
		person: `colleg\w+|signor\w*|sig\.?|client\w+|utent\w+|lui|lei`,
		phrases: `^(?:stop|basta|cancellazione|disiscrizione)(?: grazie| per favore)?$|basta (?:con le |con |` +
			`coi )?(?:e-?mail|mail|messaggi|pubblicita|spam)|` +
			`niente piu (?:e-?mail|mail|messaggi|pubblicita)|lasciat\w+ in pace|mi oppongo|` +
			`revoc\w+ (?:il )?(?:mio )?consenso`,
	},
	{ // Portuguese
		unsubscribe: `descadastr\w+|(?:remov|retir|apag|exclu|elimin|tir|delet)\w*-(?:me|nos)|desinscre\w+|` +
			`desinscri\w+|cancel\w+ (?:a )?(?:minha )?(?:inscricao|assinatura|subscricao)|` +
			`cancel\w+ (?:o )?(?:meu )?(?:cadastro|registo)|anular (?:a )?(?:minha )?subscricao|sair da (?:lista|` +
			`newsletter)`,
		remove: `remov\w+|retir\w+|apag\w+|exclu\w+|elimin\w+|tir(?:e|em|a|ar)\w*|delet\w+|remocao|exclusao`,
		me: `me|\w+-me|\w+-nos|meus?|minhas?|nos|noss[oa]s? (?:e-?mail|endereco|dados|contato|contacto|empresa)|` +
			`este e-?mail|este endereco`,
		list: `listas?|base\w*|registr?os?|newsletter\w*|cadastro\w*|banco|sistema|ficheiros?|contatos|contactos|` +
			`mailing\w*|dados|distribuicao`,
		mails: `e-?mails?|mails?|mensagens|mensagem|publicidade|newsletters?|propaganda|ofertas|spam|comunicac\w+|` +
			`nada|correio`,
		stop:   `par(?:e|em|ar|a) de|deix\w+ de|cess\w+|pare|parem|chega de|evit\w+`,
		write:  `escrev\w+|envi\w+|mand\w+|contact\w+|contat\w+|incomod\w+|perturb\w+|spam\w*`,
		not:    `nao|nunca|jamais|nem`,
		more:   `mais|nunca|voltar|voltem|novamente`,
		want:   `quer\w+|dese\w+|gostari\w+|pretend\w+|interess\w+|precis\w+`,
		get:    `receb\w+|ter|ouvir|ser contact\w+|ser contat\w+`,
		cannot: `pod(?:emos|er|e)|poss[oa]|antes d\w+|ate`,
		other: `fornecedor\w*|contrato|linha|orcamento|reuniao|fatura\w*|encomenda\w*|pedido|desconto|taxa|` +
			`custo\w*|proposta|servico|seguro|item`,
		person: `colega\w*|senhor\w*|sra?\.?|clientes|usuarios|utilizadores|ele|ela`,
		phrases: `^(?:parar?|pare|stop|sair|cancelar|remover|descadastrar|basta)(?: por favor)?$|` +
			`chega de (?:e-?mails?|mensagens|spam|publicidade)|` +
			`(?:nenhum|sem) mais (?:e-?mails?|mensagens)|deix\w+[- ]me em paz|oponho-me|` +
			`retiro o (?:meu )?consentimento`,
	},
}
