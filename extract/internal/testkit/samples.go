package testkit

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"
)

// Text of a page about a village library, in the languages that the legacy charsets
// were made for. All were written for these tests.
const (
	Russian = "Сельская библиотека открыта каждый день, кроме понедельника. В читальном зале можно взять свежие газеты и старые журналы. " +
		"Осенью мы проводим вечера поэзии, куда приходят и дети, и взрослые."
	Ukrainian = "Сільська бібліотека відчинена щодня, крім понеділка. У читальній залі є свіжі газети, її книжки й журнали. " +
		"Восени ми проводимо вечори поезії, куди приходять і діти, і дорослі з ґанку сусідньої школи."
	Polish = "Biblioteka gminna jest otwarta codziennie oprócz poniedziałków. W czytelni można wypożyczyć świeże gazety i książki. " +
		"Jesienią odbywają się u nas wieczory poezji, na które przychodzą również dzieci; źródła są dostępne."
	Czech = "Obecní knihovna je otevřena každý den kromě pondělí. V čítárně si můžete půjčit čerstvé noviny i staré časopisy. " +
		"Na podzim pořádáme večery poezie, kam chodí děti i dospělí, a příští týden přijede známý spisovatel."
	Hungarian = "A községi könyvtár hétfő kivételével minden nap nyitva van. Az olvasóteremben friss újságokat és régi folyóiratokat talál. " +
		"Ősszel költői esteket rendezünk, ahová gyerekek és felnőttek is eljönnek, és közösen sütünk."
	Maltese = "Il-librerija tar-raħal tiftaħ kuljum ħlief nhar ta’ Tnejn. Fis-sala tal-qari ssib gazzetti ġodda u żewġ rivisti. " +
		"Fil-ħarifa norganizzaw serati tal-poeżija, fejn jiġu tfal u kbar, u kulħadd ikun mistieden għaċ-ċelebrazzjoni."
	Latvian = "Ciema bibliotēka ir atvērta katru dienu, izņemot pirmdienas. Lasītavā var paņemt jaunākās avīzes un vecus žurnālus. " +
		"Rudenī rīkojam dzejas vakarus, uz kuriem nāk gan bērni, gan pieaugušie, un šogad būs arī ķēkšu kursi."
	Lithuanian = "Kaimo biblioteka atidaryta kasdien, išskyrus pirmadienį. Skaitykloje galima rasti naujų laikraščių ir senų žurnalų. " +
		"Rudenį rengiame poezijos vakarus, į kuriuos ateina vaikai ir suaugusieji, o šiemet bus ir knygų mugė."
	Icelandic = "Bókasafnið í þorpinu er opið alla daga nema mánudaga. Í lestrarsalnum má finna ný dagblöð og gömul tímarit. " +
		"Á haustin höldum við ljóðakvöld, þar sem bæði börn og fullorðnir koma saman og drekka heitt súkkulaði."
	Welsh = "Mae llyfrgell y pentref ar agor bob dydd ac eithrio dydd Llun. Yn yr ystafell ddarllen ceir papurau newydd a hen gylchgronau. " +
		"Yn yr hydref cynhelir nosweithiau barddoniaeth ger y tŷ, a daw plant ac oedolion i’r ŵyl wrth y dŵr."
	French = "La bibliothèque du village est ouverte tous les jours, sauf le lundi. Dans la salle de lecture, on trouve des journaux récents " +
		"et de vieilles revues. À l'automne, nous organisons des soirées de poésie où viennent enfants et aînés : c'est gratuit."
	Romanian = "Biblioteca satului este deschisă în fiecare zi, în afară de luni. În sala de lectură găsiți ziare noi și reviste vechi. " +
		"Toamna ținem seri de poezie, la care vin și copiii, și părinții, iar anul acesta va fi și un târg de cărți."
	Arabic = "مكتبة القرية مفتوحة كل يوم ما عدا يوم الاثنين. في قاعة القراءة تجدون الصحف الجديدة والمجلات القديمة. " +
		"في الخريف ننظم أمسيات شعرية يحضرها الصغار والكبار، وستقام هذا العام سوق للكتب أيضا."
	Greek = "Η βιβλιοθήκη του χωριού είναι ανοιχτή κάθε μέρα εκτός από τη Δευτέρα. Στο αναγνωστήριο θα βρείτε νέες εφημερίδες και παλιά περιοδικά. " +
		"Το φθινόπωρο οργανώνουμε βραδιές ποίησης, όπου έρχονται μικροί και μεγάλοι."
	Hebrew = "ספריית הכפר פתוחה בכל יום חוץ מיום שני. באולם הקריאה אפשר למצוא עיתונים חדשים וכתבי עת ישנים. " +
		"בסתיו אנחנו מארגנים ערבי שירה, ואליהם באים ילדים ומבוגרים, והשנה יתקיים גם יריד ספרים."
	Turkish = "Köy kütüphanesi pazartesi dışında her gün açıktır. Okuma salonunda yeni gazeteler ve eski dergiler bulabilirsiniz. " +
		"Sonbaharda çocukların ve büyüklerin geldiği şiir geceleri düzenliyoruz; bu yıl kitap fuarı da olacağını umuyoruz."
	Vietnamese = "Thư viện của làng mở cửa mỗi ngày trừ thứ hai. Trong phòng đọc có báo mới và tạp chí cũ. " +
		"Mùa thu chúng tôi tổ chức những đêm thơ, trẻ em và người lớn đều đến dự."
	Thai = "ห้องสมุดของหมู่บ้านเปิดทุกวันยกเว้นวันจันทร์ ในห้องอ่านหนังสือมีหนังสือพิมพ์ใหม่และนิตยสารเก่า " +
		"ในฤดูใบไม้ร่วงเราจัดคืนบทกวีซึ่งทั้งเด็กและผู้ใหญ่มาร่วมงาน"
	Chinese     = "村里的图书馆除星期一外每天开放。阅览室里可以看到新报纸和旧杂志。秋天我们举办诗歌晚会，孩子和大人都会来参加，今年还有书市。"
	Traditional = "村裡的圖書館除星期一外每天開放。閱覽室裡可以看到新報紙和舊雜誌。秋天我們舉辦詩歌晚會，孩子和大人都會來參加，今年還有書市。"
	Japanese    = "村の図書館は月曜日を除いて毎日開いています。閲覧室では新しい新聞や古い雑誌を読むことができます。" +
		"秋には詩の夕べを催し、子どもも大人も集まります。今年はブックフェアもあります。"
	Korean = "마을 도서관은 월요일을 제외하고 매일 문을 엽니다. 열람실에서는 새 신문과 오래된 잡지를 볼 수 있습니다. " +
		"가을에는 어린이와 어른이 함께 오는 시의 밤을 열고, 올해는 책 장터도 있습니다."
	German = "Die Gemeindebücherei ist täglich außer montags geöffnet. Im Lesesaal liegen neue Zeitungen und alte Zeitschriften aus. " +
		"Im Herbst veranstalten wir Gedichtabende, zu denen Kinder und Erwachsene kommen; für Getränke ist gesorgt."
	Spanish = "La biblioteca del pueblo abre todos los días menos el lunes. En la sala de lectura hay periódicos nuevos y revistas viejas. " +
		"En otoño organizamos tardes de poesía, a las que vienen niños y mayores. ¿Quién se anima? También habrá una feria."
	Portuguese = "A biblioteca da aldeia está aberta todos os dias, exceto à segunda-feira. Na sala de leitura há jornais novos e revistas antigas. " +
		"No outono organizamos serões de poesia, aos quais vêm crianças e adultos, e haverá também uma exposição."
	Italian = "La biblioteca del paese è aperta tutti i giorni tranne il lunedì. Nella sala di lettura ci sono giornali nuovi e riviste vecchie. " +
		"In autunno organizziamo serate di poesia, perché piacciono a bambini e adulti; l'entrata è libera, più che mai."
	Swedish = "Byns bibliotek är öppet varje dag utom måndag. I läsesalen finns färska tidningar och gamla tidskrifter. " +
		"På hösten ordnar vi lyrikkvällar dit både barn och vuxna kommer, och i år blir det även en bokmässa."
	Danish = "Landsbyens bibliotek er åbent hver dag undtagen mandag. I læsesalen ligger der nye aviser og gamle tidsskrifter. " +
		"Om efteråret holder vi digtaftener, hvor både børn og voksne kommer, og i år bliver der også en bogmesse på skolen."
	Finnish = "Kylän kirjasto on avoinna joka päivä paitsi maanantaisin. Lukusalissa on tuoreita sanomalehtiä ja vanhoja aikakauslehtiä. " +
		"Syksyllä järjestämme runoiltoja, joihin tulee sekä lapsia että aikuisia, ja tänä vuonna pidetään myös kirjamessut."
	Dutch = "De dorpsbibliotheek is elke dag open behalve maandag. In de leeszaal liggen nieuwe kranten en oude tijdschriften. " +
		"In de herfst houden we poëzieavonden, waar kinderen en volwassenen komen; één zaal, twee cafés, geïnteresseerden, coöperatie, reünie."
	Quoted  = "The reader’s “village library” isn’t open on Mondays – that’s a pity. There’s a “poetry evening” for children’s groups."
	English = "The village library is open every day but Monday. In the reading room there are new papers and old magazines."
)

// sample is a text in a charset that the WHATWG Encoding Standard names.
type sample struct {
	Charset, Language, Text string

	Guess string // charset that is guessed if none is declared
	Right bool   // whether decoding by the guess gives the same text
}

// Samples are texts in all charsets but UTF-8.
var Samples = []sample{
	{"ibm866", "Russian", Russian, "ibm866", true},
	{"iso-8859-2", "Polish", Polish, "iso-8859-2", true},
	{"iso-8859-2", "Czech", Czech, "iso-8859-2", true},
	{"iso-8859-2", "Hungarian", Hungarian, "iso-8859-2", true},
	{"iso-8859-3", "Maltese", PlainQuotes(Maltese), "iso-8859-3", true},
	{"iso-8859-4", "Latvian", Latvian, "iso-8859-4", true},
	{"iso-8859-5", "Russian", Russian, "iso-8859-5", true},
	{"iso-8859-6", "Arabic", Arabic, "iso-8859-6", true},
	{"iso-8859-7", "Greek", Greek, "iso-8859-7", true},
	{"iso-8859-8", "Hebrew", Hebrew, "windows-1255", true},
	{"iso-8859-8-i", "Hebrew", Hebrew, "windows-1255", true},
	{"iso-8859-10", "Icelandic", Icelandic, "fallback", true},
	{"iso-8859-13", "Lithuanian", Lithuanian, "windows-1257", true},
	{"iso-8859-14", "Welsh", PlainQuotes(Welsh), "fallback", false},
	{"iso-8859-15", "French", French + " Prix : 5 €, cœur compris.", "iso-8859-15", true},
	{"iso-8859-16", "Romanian", Romanian, "iso-8859-2", false},
	{"koi8-r", "Russian", Russian, "koi8-r", true},
	{"koi8-u", "Ukrainian", Ukrainian, "koi8-u", true},
	{"macintosh", "French", French, "macintosh", true},
	{"windows-874", "Thai", Thai, "windows-874", true},
	{"windows-1250", "Polish", Polish, "windows-1250", true},
	{"windows-1250", "Czech", Czech, "windows-1250", true},
	{"windows-1250", "Hungarian", Hungarian, "iso-8859-2", true},
	{"windows-1251", "Russian", Russian, "windows-1251", true},
	{"windows-1251", "Ukrainian", Ukrainian, "windows-1251", true},
	{"windows-1252", "French", French, "windows-1252", true},
	{"windows-1252", "Icelandic", Icelandic, "fallback", true},
	{"windows-1252", "German", German, "fallback", true},
	{"windows-1252", "Spanish", Spanish, "windows-1252", true},
	{"windows-1252", "Portuguese", Portuguese, "windows-1252", true},
	{"windows-1252", "Italian", Italian, "fallback", true},
	{"windows-1252", "Swedish", Swedish, "windows-1252", true},
	{"windows-1252", "Danish", Danish, "windows-1252", true},
	{"windows-1252", "Finnish", Finnish, "fallback", true},
	{"windows-1252", "Dutch", Dutch, "fallback", true},
	{"windows-1252", "English", Quoted, "windows-1252", true},
	{"windows-1253", "Greek", Greek, "iso-8859-7", true},
	{"windows-1254", "Turkish", Turkish, "windows-1254", true},
	{"windows-1255", "Hebrew", Hebrew, "windows-1255", true},
	{"windows-1256", "Arabic", Arabic, "windows-1256", true},
	{"windows-1257", "Lithuanian", Lithuanian, "windows-1257", true},
	{"windows-1257", "Latvian", Latvian, "windows-1257", true},
	{"windows-1258", "Vietnamese", ToneMarks(Vietnamese), "windows-1258", true},
	{"x-mac-cyrillic", "Russian", Russian, "x-mac-cyrillic", true},
	{"gbk", "Chinese", Chinese, "gb18030", true},
	{"gb18030", "Chinese", Chinese + "𠮷", "gb18030", true},
	{"big5", "Chinese", Traditional, "big5", true},
	{"euc-jp", "Japanese", Japanese, "euc-jp", true},
	{"iso-2022-jp", "Japanese", Japanese, "iso-2022-jp", true},
	{"shift_jis", "Japanese", Japanese, "shift_jis", true},
	{"euc-kr", "Korean", Korean, "euc-kr", true},
	{"utf-16le", "Russian", Russian, "utf-16le", true},
	{"utf-16be", "Japanese", Japanese, "utf-16be", true},
	{"utf-16le", "English", English, "utf-16le", true},
}

// PlainQuotes replaces characters that the older charsets lack.
func PlainQuotes(s string) string {
	return strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`).Replace(s)
}

// ToneMarks writes Vietnamese as windows-1258 does: vowels composed, tones after
// them.
func ToneMarks(s string) string {
	var b strings.Builder
	for _, r := range s {
		d := []rune(norm.NFD.String(string(r)))
		tone := slices.IndexFunc(d, func(r rune) bool { return slices.Contains([]rune("\u0300\u0301\u0303\u0309\u0323"), r) })
		if tone < 0 {
			b.WriteRune(r)
			continue
		}
		mark := d[tone]
		b.WriteString(norm.NFC.String(string(slices.Delete(d, tone, tone+1))))
		b.WriteRune(mark)
	}
	return b.String()
}

// In encodes s in a charset.
func In(t testing.TB, charset, s string) string {
	t.Helper()
	e, err := htmlindex.Get(charset)
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.NewEncoder().String(s)
	if err != nil {
		t.Fatalf("%s: %v", charset, err)
	}
	return out
}
