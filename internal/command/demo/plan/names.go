package plan

import "strings"

// culture is the names that are usual together, and where their bearers live. An entry is a name, or a name and its
// form in an address: "花子|hanako".
type culture struct {
	dial        string
	first, last []string
	zones       []string
}

// plainLetters replaces the letters of names by those of addresses.
var plainLetters = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "å", "a", "ø", "o", "æ", "ae", "á", "a", "à", "a", "â", "a", "ã", "a",
	"ç", "c", "ć", "c", "č", "c", "é", "e", "è", "e", "ê", "e", "ë", "e", "ę", "e", "ą", "a", "ğ", "g", "í", "i",
	"ï", "i", "ı", "i", "ł", "l", "ñ", "n", "ń", "n", "ó", "o", "ô", "o", "õ", "o", "ř", "r", "ś", "s", "š", "s",
	"ş", "s", "ú", "u", "ý", "y", "ž", "z", "ż", "z", "’", "", "'", "", " ", "-",
)

func splitWords(list string) []string { return strings.Fields(list) }

var cultures = []share[culture]{
	{culture{
		"+1", splitWords("Olivia Liam Emma Noah Ava Ethan Grace Mason Hannah Logan Ruby Caleb Naomi Isaac"),
		splitWords("Smith Johnson Williams Brown Miller Davis Wilson Anderson Taylor Moore Clark Lewis Walker Reed"),
		splitWords("America/New_York America/Chicago America/Los_Angeles"),
	}, 20},
	{culture{
		"+49", splitWords("Anna Jürgen Lena Lukas Sophie Jonas Käthe Felix Marie Björn Frieda Moritz"),
		splitWords("Müller Schmidt Schneider Fischer Weber Wagner Becker Schäfer Köhler Krüger Groß Vogel"),
		splitWords("Europe/Berlin Europe/Vienna"),
	}, 12},
	{culture{
		"+33", splitWords("Camille Léa Hugo Chloé Louis Manon Théo Inès Raphaël Zoé Gaël Noémie"),
		splitWords("Martin Bernard Dubois Lefèvre Moreau Girard Fournier Mercier Lambert François Bonnet Renaud"),
		splitWords("Europe/Paris"),
	}, 8},
	{culture{
		"+34", splitWords("Lucía Mateo Sofía Diego Martina Álvaro Valentina Iñaki Camila Joaquín Elena Andrés"),
		splitWords("García Fernández López Martínez Sánchez Pérez Gómez Muñoz Jiménez Rojas Castillo Vargas"),
		splitWords("Europe/Madrid America/Mexico_City America/Bogota"),
	}, 10},
	{culture{
		"+55", splitWords("Ana João Beatriz Pedro Larissa Gustavo Fernanda Rafael Júlia Thiago Letícia Caio"),
		splitWords("Silva Santos Oliveira Souza Pereira Costa Almeida Araújo Carvalho Gonçalves Ribeiro Rocha"),
		splitWords("America/Sao_Paulo"),
	}, 7},
	{culture{
		"+48", splitWords("Zofia Jakub Hanna Antoni Małgorzata Łukasz Maja Paweł Agnieszka Wojciech Ewa Michał"),
		splitWords("Nowak Kowalski Wiśniewski Wójcik Kamiński Lewandowski Zieliński Szymański Dąbrowski Król"),
		splitWords("Europe/Warsaw"),
	}, 6},
	{culture{
		"+46", splitWords("Astrid Erik Saga Lars Freja Gustav Linnéa Oskar Ingrid Søren Åsa Nils"),
		splitWords("Andersson Johansson Karlsson Nilsson Lindqvist Bergström Håkansson Østergaard Hansen Virtanen"),
		splitWords("Europe/Stockholm Europe/Copenhagen Europe/Helsinki"),
	}, 6},
	{culture{
		"+91", splitWords("Priya Arjun Ananya Rohan Kavya Vikram Neha Rahul Meera Aditya Lakshmi Imran"),
		splitWords("Sharma Patel Iyer Reddy Gupta Nair Singh Khan Banerjee Kulkarni Mehta Rao"),
		splitWords("Asia/Kolkata"),
	}, 10},
	{culture{
		"+81", splitWords("花子|hanako 翔太|shota 結衣|yui 大輝|daiki 美咲|misaki 健一|kenichi さくら|sakura 拓也|takuya"),
		splitWords("佐藤|sato 鈴木|suzuki 高橋|takahashi 田中|tanaka 渡辺|watanabe 山本|yamamoto 中村|nakamura 小林|kobayashi"),
		splitWords("Asia/Tokyo"),
	}, 5},
	{culture{
		"+86", splitWords("Wei Fang Jing Lei Xiu Ming Yan Jun Hui Tao Na Qiang"),
		splitWords("Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun"),
		splitWords("Asia/Shanghai Asia/Singapore"),
	}, 6},
	{culture{
		"+20", splitWords("Layla Omar Fatima Yusuf Mariam Karim Noor Hassan Salma Tariq Amira Khalid"),
		splitWords("Haddad Mansour Khalil Nasser Aziz Farouk Saleh Darwish Hamdan Rahman Said Najjar"),
		splitWords("Africa/Cairo Asia/Dubai Africa/Casablanca"),
	}, 5},
	{culture{
		"+234", splitWords("Chidi Amara Kwame Zainab Tunde Ngozi Kofi Abeni Sipho Thandiwe Juma Wanjiru"),
		splitWords("Okafor Adeyemi Mensah Balogun Nwosu Dlamini Mwangi Otieno Abubakar Eze Boateng Ndlovu"),
		splitWords("Africa/Lagos Africa/Nairobi Africa/Johannesburg"),
	}, 5},
	{culture{
		"+30",
		splitWords(
			"Ελένη|eleni Νίκος|nikos Μαρία|maria Γιώργος|giorgos Elif|elif Mehmet|mehmet Ayşe|ayse Can|can",
		),
		splitWords(
			"Παππάς|pappas Νικολάου|nikolaou Γεωργίου|georgiou Yılmaz|yilmaz Kaya|kaya Çelik|celik Öztürk|ozturk",
		),
		splitWords("Europe/Athens Europe/Istanbul"),
	}, 4},
}
