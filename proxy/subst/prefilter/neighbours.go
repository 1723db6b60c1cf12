package prefilter

import (
	"math"
	"strings"
	"sync"
)

// A class is bytes that go alike with their neighbours. Most are one byte; those
// named by one of many are A (upper case), 0 (digits), \n (also \r) and @ (also ^
// and ~). The last three are the other controls and the two kinds of byte from
// 0x80 on: those that go on with a UTF-8 sequence, and those that begin one.
const (
	named        = "abcdefghijklmnopqrstuvwxyzA0 \t\n!\"#$%&'()*+,-./:;<=>?[\\]_`{|}@"
	controls     = 61
	continuation = 62
	lead         = 63
	classes      = 64
)

// follows says how often a byte of one class, a row, is followed by one of
// another, a column: 0 is always, 2 half of the times, 4 a quarter of them, and so
// on up to y; a dot is still less. Counted in the same files as frequencies, with
// the same weights. Rows add up to 1 but for the rounding.
var follows = [classes]string{
	//bcdefghijklmnopqrstuvwxyzA0 tn!"#$%&'()*+,-./:;<=>?[\]_`{|}@~uU
	"ib99jgbkamg796pao666dchgdnfe8xjtiwvtpmjiqqiefnkjll9smpojorponk.m", // a
	"7ged7hcn99h6hj6km87f7mmbakeaeukshut.nljfnphhadkijjgokomgkqlnmluo", // b
	"7heh7if8bk86im4iqad7bokresecdslsiss.nkhhjpiffiijihqrnpnimuppolwn", // c
	"9fha3ihk7lpdli9mrfdcckmldrbd6mfn9qt.lhfeonebckegga9ommjblpnmmlvg", // d
	"ada9c9ejffkba7gde688jdeaepbf6qepatuykhdfqodccfdfee9nkljfkmnlnm.h", // e
	"8igg87go6srbkd6mt9cc8pnmfsfa6shqdwxymndgwoggemifh6pplokaktpmnm.i", // f
	"bigh5kc97qqbfa9lq8b9ajlohiai6qenaqwtmgedpldcbabkdddnknhdkonjlkvg", // g
	"7hnl4ogm6sn8gk9jq6f6brmrjqca9shpf.uwljdetnfffjegheeokqjdlromllxj", // h
	"cca7c9amnsj8b57bmb66jbofsdhlg.qukv..oqojslkjhjnonj9pntjguwrpnlsu", // i
	"cmkl5plkenjmjlbkil1lbmknnmbhe.o.ns..poifwjflenoilitohshqn.qqqpks", // j
	"9ckg4f7kajohkeffbk8hfndngn9e7sfk6vrnnfddlnd9cihcdgmpjpgeknqlnloh", // k
	"5fic5gfm5aj8mi7guka8bgkpbsdi9uhobd.xlkehpqgeddihhgdpnlkgnsqnnkrk", // l
	"5ahd4nhn8hl7ai88nkbidinphrcb9tisbxsrpjghnsgedbfdfmgpllminsqlmmvk", // m
	"9c888e7ibodeje8dqk76cempfpdi6sgmbqq.jgegrogcejdjff9plmkempojmkyh", // n
	"fc86hadkejd985b9u6ba9dagkhfgasitivvuomlgqqjigjkjjlrqopnjptqqmlvj", // o
	"4jkf6mkfaqc8ci8ar798ampbdtefcrjqcqu.plgiqohfekebid8ompmjnoqpom.n", // p
	"ikjjgljiilkhgjkjkfgh1ljjkl9dctjggn..ojghtjficjilhhtmhokhlrnponml", // q
	"8jbb4fbn8rbeba8jsa99bgjqbudl8ohqaqvtjhceopfbcgcifgbollkgloolmlvi", // r
	"dmcf7gkc8shbjfa7pg76cikqducj7qeqcjssjhfeloda9cbjd8kmfnifkrommlvh", // s
	"8gea6il67rncbi8cs8babqijatah7nfqatvwmhefnofccfdeegenjljdlonmml.i", // t
	"b9bd7acmasn686dar666olniojiie.owfu..qmqltpmgkosplkpuntoqsqsrnmsl", // u
	"4kim3ocj6qnjfkaooiiiimkkkte89.ksfjotqkihtph9dkljjj9qkjlkqsqpnopp", // v
	"7gkf7ng75okgmb7hq6ailnbmkl9e7vhqdqsrnjehqmhbbiflfilomnmhnumokmri", // w
	"alcmajnhbqmkakk7qj55mlmkeoa88qhscruyjhfdpjdbadd8dempmnfgktnimksh", // x
	"dhfjejgkenn9b9b5qe8bimapnl8h5tco7qrvkgcdoncbaiahcebmjlhdijmjkluf", // y
	"9ihh2khg5ljbbkdjkkeijlhkfb8cd.ho9o.nqffgpkjbghkkhiooolgfkn.lhjof", // z
	"9eee8ffbakhcga8ejaeabfhfdj3basgqgoqnkighqjhhffhfehmpnnhamspmpjlj", // A-Z
	"efefdeojlppjnooeqjiookniojc19reoaorflhkcrm8c8ihdcmeoqnffisqdqm.i", // 0-9
	"ac9ddchbaljedcccmcb9fedkjoa93.nj9gmoifcjfjyehehtbckkhjllgbidlmwm", // ' '
	"gedeecigahngefhelbdbkdgepocea2gmbnpvrhbjnpxll9d.cuv.f.nkumn9orxr", // \t
	"fhcggfihgppkhjictifejiipnxcg2a7jleosqnkndr.hbcmw5mh.hwoqgjlaihnh", // \n
	"dedcbdge9iifecbbicb8fggnjma68.e9ddnkpdakqho8ogurd4tlaemmlp.xlpuo", // !
	"edbbdcd9alhaabhdmfcabbhilpba8.fohbnplkoemj8jei5iil5momjjqnocilya", // "
	"9c9a99fcclhd9cebjbabefe6kk859rkehamxolou..dfpuliasqofpsevuv.mmyj", // #
	"gfbffirlhvplkhlgyfhegpttsy76awdiehlke99eomkle8onjdpkfjhpj2eoiwrk", // $
	"leifglnnhhuonkjhfkblpjoetre68xip7lpmkkj3lr6leoo7klk.fihpyn.aphsl", // %
	"bhhhfi8hgmn8g4jgkgfbjlmpmsfh7.bdg7u.4k9y.qxmwkw.pms.ohnlsts.rowx", // &
	"bdcbccfddjhddadclc8acgdimn8d8.9jdgiljbh5gj7gaedb8kfjiedgejljeqwi", // '
	"bcac99g9bifdc9bblba8ecfhkp99b.fbbklni8d6hkuaffkjatsgdjsigdo.no.o", // (
	"onllmkpqitsrvnppvfohrurusxkr4q6mg.kofjg8ij7lajd59fmgjjbtf9gbpoxi", // )
	"ifhcijojk.nighjioidcijkno.bi3f9mflkw.fef5kkjg58pilpkjimmkmmpouxf", // *
	"dffhegiedhjggggfjgedhggcji974.aqalfered8l5edkdkcf8lhlfdommhiinuh", // +
	"ghghehjhflmijfgiogfcjllompdc1.6i9pkrtnlsvoxojqovgrsujktksd.trn.g", // ,
	"987cbafa9fcbbacahb78ecackjb7a.gmmvouhnomqpp6fjxnlmfqnnotutopxl.i", // -
	"cd8cbcc7cbhbbcaajaabffdenla59.9sibmthikjjpnu99r.9ssrnklenrprrn.h", // .
	"6e79dfbbdki8gah9lf77difhoqac8ucvhjmsrjnkcplkc7roksbqnionprqqik.r", // /
	"gfgjienffqphieiirhhfjgllqpdb1vdj9hksljjsmqtjn8arcj.sijolpfuvnl.i", // :
	"gceigdkibmnefeigpddcgfholoac8p1phhtlaiiisqjenmjnblsnjhlrrsrdmj.k", // ;
	"7a8bkmmcfsj8hlmaxk78eok.vyhmh.yht.rvuury...s.2w.lkwpwnxvxxx.vj..", // <
	"hiiiggljipojlfiirhidkhnolqeb5.jg2dkrkfhrumxookxsl7bvjetopiswpk.l", // =
	"ficggfkifnnfhdhfofeehghdos7a7g5phflrcdcenpdgdffh3iiqllljkipmmj.i", // >
	"cfdecchgdikfhcfcjdb9idienjac4y9cakfojcaehkng6h9kcge9edlljfhidmsk", // ?
	"bedbbege9g9eecddkdbafhiilk77a.aia8hribkski9gfgj.enpl8f8a7io.eqlq", // [
	"nhseohosn.tmo5qh.ccdcpgfwsfef.cn5pirsafghhojb9vrjroj65db8hmihsnr", // \
	"lhpomnrvjt.omskksnipfmt.y.ik4.8hgqn.dg56he6h9hc8daffbgc.iiedn.kl", // ]
	"6e89bdd9ahhda6ccjc99fefeho58h.nr9kmvopkln.kkkmmpimq.onnbpupuvqqp", // _
	"cbbdccggegjgdaecnecdfehnon885.7nhjcqmcjbjn9bagfhdpioif7i7inqh.op", // `
	"gffggdjjdmkdgfiepbedjdioqqdi7.2p4mvhymnsrorkhlorkutsofsmtfraimru", // {
	"eeddegihekngidgf.fdbhjjlgrad3.9ccjipmhbgjkofkilrhgnkedtlmf3ngumm", // |
	"klhkggilhtsklnnj.gjjokmwq.kp7u3nfhjyqij8lt3kehhbfiokhgipelpbhnqq", // }
	"efeffa8h8if97af9l9cbhchj7ic7a.hjehepjdcijmkgkehmfgjnfcikmchd6mgl", // @
	"bgddbfedcoibfbcepcbafkihhlac9rarck.lookktqifgdggcecqqs.n.k.kq2jf", // controls
	"dgfghfjiennhghfgrgddhigmkqbfgomu8ttrnmhoqsqhmnr.gl.tnppopsssoo51", // continuation
	"r..xvwyyw..xxsuwxtvx..yqy.qpjwo.s....wywyytvsyyvtwxvvx.uyy..xk0e", // lead
}

// neighbours is the table, ready for use.
type neighbours struct {
	class [256]uint8
	// lift is how many times as often as by chance a class, a row, follows another,
	// a column. The mean of each, over what stands in front and over what stands
	// behind, is 1: a place for any byte, at either end, changes nothing.
	lift [classes][classes]float64
}

// typicalNeighbours has it worked out once: that takes 0.1 ms.
var typicalNeighbours = sync.OnceValue(newNeighbours)

func newNeighbours() *neighbours {
	n := new(neighbours)
	var share [classes]float64
	for c, count := range frequencies {
		n.class[c] = uint8(classOf(byte(c)))
		share[n.class[c]] += float64(count) / million
	}
	var chance ['z' + 1]float64
	for level, digit := range levels {
		chance[digit] = math.Pow(2, -float64(level)/2)
	}
	for i, row := range follows {
		for j := range classes {
			n.lift[j][i] = chance[row[j]] / share[j]
		}
	}
	n.balance(&share)
	return n
}

const levels = "0123456789abcdefghijklmnopqrstuvwxy."

func classOf(c byte) int {
	switch {
	case c >= 0xc0:
		return lead
	case c >= 0x80:
		return continuation
	case 'A' <= c && c <= 'Z':
		c = 'A'
	case '0' <= c && c <= '9':
		c = '0'
	case c == '\r':
		c = '\n'
	case c == '^' || c == '~':
		c = '@'
	}
	if i := strings.IndexByte(named, c); i >= 0 {
		return i
	}
	return controls
}

// balance makes the means 1, in front and behind by turns. They are nearly so
// but for the rounding; some of rare classes stay a little below.
func (n *neighbours) balance(share *[classes]float64) {
	const rounds = 4
	for round := range rounds {
		least := 0.0
		if round == rounds-1 { // none may stay above 1: a place more would make a rate rise
			least = 1
		}
		var behind [classes]float64
		for j := range classes {
			mean := 0.0
			for i := range classes {
				mean += share[i] * n.lift[j][i]
			}
			for i := range classes {
				n.lift[j][i] /= max(mean, least)
				behind[i] += share[j] * n.lift[j][i]
			}
		}
		for j := range classes {
			for i := range classes {
				n.lift[j][i] /= max(behind[i], least)
			}
		}
	}
}

// step goes on from one place to the next, with what fits so far of each of its
// classes.
func (n *neighbours) step(fits *[classes]float64, at, next *place) (on [classes]float64) {
	class := at.class[:at.n]
	for k := 0; k+3 < classes && k < next.n; k += 4 { // four sums, which need not wait for one another
		lift0, lift1 := &n.lift[next.class[k]%classes], &n.lift[next.class[k+1]%classes]
		lift2, lift3 := &n.lift[next.class[k+2]%classes], &n.lift[next.class[k+3]%classes]
		var sum0, sum1, sum2, sum3 float64
		for i, c := range class {
			x := fits[i%classes]
			sum0 += x * lift0[c%classes]
			sum1 += x * lift1[c%classes]
			sum2 += x * lift2[c%classes]
			sum3 += x * lift3[c%classes]
		}
		on[k] = sum0 * next.part[k]
		on[k+1] = sum1 * next.part[k+1]
		on[k+2] = sum2 * next.part[k+2]
		on[k+3] = sum3 * next.part[k+3]
	}
	return on
}
