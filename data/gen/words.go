package gen

import "strings"

// The word lists follow the contest's data in size and shape (how many there
// are, how long, in which alphabet), not in content.

func maleNames() []string {
	return strings.Fields(`Адам Аким Альберт Антип Арсений Богдан Вадим Валерий Вениамин Викентий Виталий Влас
		Всеволод Георгий Глеб Гордей Демид Денис Добрыня Евгений Елисей Ефим Захар Зиновий Игнат Ипполит Казимир Кирилл
		Корней Лаврентий Леонтий Лука Макар Марк Мирон Назар Никита Олег Остап Панкрат Прохор Родион Савва Святослав
		Тарас Тихон Фёдор Филипп Юлиан Яков`)
}

func femaleNames() []string {
	return strings.Fields(`Агата Аглая Алина Анфиса Ариадна Белла Богдана Валерия Варвара Василиса Вера Вероника
		Виолетта Глафира Дарина Диана Евгения Екатерина Жанна Забава Зинаида Злата Ия Калерия Капитолина Кира Клавдия
		Ксения Лада Лариса Леся Лилия Лина Майя Марта Милена Мирослава Ника Нина Олеся Пелагея Полина Регина Римма
		Серафима Снежана Таисия Ульяна Фаина Юлия`)
}

// A last name is a stem, a middle and an ending: 14 * 8 * 14 = 1,568 of them.
// A pair of endings is the man's and the woman's form.
func nameStems() []string {
	return strings.Fields(`Бар Вор Гал Дуб Жур Зим Каш Лоб Мар Рож Сав Тур Хар Чер`)
}

func nameMiddles() []string {
	return strings.Fields(`ан ел ив ок ун атор ежал иков`)
}

func nameEndings() [][2]string {
	return [][2]string{
		{"ов", "ова"}, {"ин", "ина"}, {"ский", "ская"}, {"ной", "ная"}, {"ев", "ева"},
		{"енко", "енко"}, {"ян", "ян"}, {"ич", "ич"}, {"ук", "ук"},
	}
}

// countries are 62; some hold a blank, so that queries need '+' or %20.
func countries() []string {
	names := strings.Fields(`Австралия Австрия Албания Алжир Андорра Аргентина Армения Барбадос Бельгия Болгария Боливия ` +
		`Ботсвана Бразилия Бруней Бутан Вануату Венгрия Вьетнам Гана Германия Гондурас Греция Грузия Дания Египет Замбия ` +
		`Израиль Индонезия Ирландия Исландия Испания Италия Камбоджа Канада Кения Кипр Колумбия Куба Латвия Ливан Мадагаскар ` +
		`Мальта Марокко Мексика Молдавия Намибия Никарагуа Оман Панама Перу Польша Португалия Сейшелы Сербия Словения ` +
		`Таиланд Тунис Финляндия Чили Швеция Шри_Ланка Южная_Корея`)
	for i, name := range names {
		names[i] = strings.ReplaceAll(name, "_", " ")
	}
	return names
}

// A city is a beginning and an end: 23 * 18 = 414 of them.
func cityBeginnings() []string {
	return strings.Fields(`Аль Бра Вар Гер Дор Зель Иг Кали Ладо Мель Нор Ольм Пере Рав Сол Тар Уст Фор Хель Цар Шат Эль Яс`)
}

func cityEnds() []string {
	return strings.Fields(`бург вилль горск град дельта забад ка мунд ница поль рог сити таун форт хольм чинск шир явик`)
}

// places are 38.
func places() []string {
	return strings.Fields(`Аллея Амфитеатр Аптека Арка Башня Библиотека Бульвар Водопад Вокзал Галерея Гавань Гостиница
		Грот Дворец Заповедник Кафедрал Канал Колоннада Кратер Крепость Лагуна Лестница Маяк Мельница Музей Оранжерея
		Пагода Пещера Пляж Причал Роща Рынок Скала Театр Университет Утёс Храм Часовня`)
}

// mailDomains can belong to nobody: .test and .example are reserved for this.
func mailDomains() []string {
	return strings.Fields(`mail.test post.test inbox.test box.test letter.test ya.example me.example list.example bk.example one.example`)
}

// syllables make the local parts of emails: four to nine of them, 13
// letters on average.
func syllables() []string {
	return strings.Fields(`ba bo da des do er fa fi gor gu ha il im ja kar ke ko la lem lu ma mir mo na nes no or pa per
		pu ra ri rus sa sen si ta tem ti tu ul va vel vo ya ze zo`)
}

// oddTexts need care in JSON, on terminals or in counting: quotes,
// backslashes, control characters, characters beyond the BMP, and separators
// that JSON allows and JavaScript once did not. All are at most 50 code points.
func oddTexts() []string {
	return []string{
		`Кафе "У реки"`, `C:\sights\new`, "Мост\tи\nберег", "Вид 😀 сверху", "a/b//c", "\u2028\u2029", "\x01\x1f\x7f",
		"<b>&amp;</b>", "é и е\u0301", `\u0041`, "", " ", "名所", strings.Repeat("ш", 50), "'); DROP TABLE visits;--", "%41+%",
	}
}
