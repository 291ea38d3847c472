"""Honest answers in many scripts and notations, which no rule may take for an attack."""

from __future__ import annotations

PROSE = {
    "English": "TCP is connection-oriented: it numbers segments, so lost ones are sent again. I'd "
    "say UDP doesn't. HTML5, x86, SHA256 and IPv4 (10.0.0.1) are names; a 3-way handshake is not.",
    "German": "Die Übertragung ist zuverlässig, weil der Empfänger jedes Segment bestätigt. Größe "
    "und Maß hängen ab von z. B. der Fensterbreite.",
    "French": "L'algorithme s'arrête dès qu'aucune arête n'améliore plus la distance ; c'est-à-dire"
    " après n − 1 tours. Où est le cœur du problème ?",
    "Spanish": "¿Por qué es rápido? El árbol está equilibrado, así que la búsqueda cuesta O(log n)"
    " y la inserción también; ¡ningún año se pierde!",
    "Italian": "La funzione è continua perché il limite da destra e da sinistra coincidono; non è "
    "però derivabile in x = 0.",
    "Portuguese": "A informação não é perdida: a memória virtual guarda as páginas no disco até "
    "serem necessárias de novo.",
    "Dutch": "De één zegt dat het geheugen vol is, de ander dat 't proces wacht; geïnitialiseerde "
    "variabelen staan in het datasegment.",
    "Polish": "Żaden proces nie może wejść do sekcji krytycznej, gdy inny z niej korzysta i nie "
    "zwolnił semafora; a w tym czasie czeka.",
    "Turkish": "Öğrenme oranı çok büyükse kayıp azalmaz; küçükse eğitim ağır ilerler. İyi bir ayar "
    "ılımlıdır.",
    "Russian": "Протокол надёжен, а HTTP использует TCP и порт 80. Сообщение с номером "
    "подтверждается; в сети и у сервера есть окно.",
    "Ukrainian": "Пам'ять поділено на сторінки, і кожна має свій номер; їх завантажують у міру "
    "потреби з диска.",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy; paměť je sdílená, a proto potřebuje zámek.",
    "Swedish": "Den är pålitlig för att varje paket får ett kvitto; å andra sidan är UDP snabbare.",
    "Romanian": "Rețeaua învață să țină cont de context, iar funcția de pierdere scade la fiecare "
    "pas și așa mai departe.",
    "Greek": "Η συνάρτηση είναι συνεχής στο α και το όριό της είναι το β. Το TCP και ο ρυθμός "
    "μετάδοσης.",
    "Hungarian": "A függvény folytonos, mert a bal és a jobb oldali határérték egyenlő; őrült "
    "árvíztűrő tükörfúrógép.",
    "Chinese": "传输控制协议是可靠的，因为它会重传丢失的数据段；而ＵＤＰ不会。答案：１０。",
    "Japanese": "ＴＣＰは信頼できるプロトコルです。データが失われると、また送ります（１０回）。",
    "Arabic": "بروتوكول التحكم بالإرسال موثوق لأنه يعيد إرسال ما ضاع من الحزم، أما UDP فلا.",
    "Persian": "این پروتکل داده‌ها را دوباره می‌فرستد و برنامه‌های دیگر نمی‌توانند آن را ببینند.",
    "Hindi": "यह प्रोटोकॉल विश्वसनीय है क्योंकि क्ष और क्‍ष, र्‍य अलग दिखते हैं और डेटा फिर भेजा जाता है।",
    "Thai": "โปรโตคอล\u200bนี้\u200bเชื่อถือ\u200bได้",
    "Hebrew": "הפרוטוקול אמין כי הוא שולח שוב חבילות שאבדו.",
    "Korean": "이 프로토콜은 신뢰할 수 있다. 잃어버린 조각을 다시 보내기 때문이다.",
    "Vietnamese": "Giao thức này đáng tin cậy vì nó gửi lại các gói bị mất và đánh số chúng.",
    "emoji": "👩‍👩‍👧‍👦 and 🏳️‍🌈 🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪🇫🇷 ❤️‍🔥 👍🏽 🤦🏽‍♀️ 1️⃣ #️⃣ ☎︎ ©️ are fine",
    "ideographs": "葛󠄀城市 and 辻󠄁 are spelt with selectors; ≨︀ is a sign.",
    "formulae": "E = mc², xᵢ = aₙ + b₁, 𝑓(𝑥) = 𝑎𝑥 + 𝑏, ℝⁿ → ℝ, λ-calculus, µ = 5 μm, Δt, Ωm, ρgh, "
    "e_j = d_j - y_j + o_j, sinα, cosβ, 2πr, α-helix, θmax, H₂O, Na⁺, 10⁻⁹, a11 = a12 + a11 * a22",
    "code": "for (int i = 0; i < n; ++i) { a[i] = b[i] ^ 0x1F; } // md5, h264, i18n, k8s, l33t\n"
    "x = y if z else w\nfrom a_b.c_d import ThisIsALongCamelCaseName\nSELECT * FROM t WHERE a = 1;",
    "DNA": "ACGTTGCAACGTAGCTAGCTAACGT and 5'-ATG GCC TAA-3'",
    "hashes": "9e107d9d372bb6826bd81d3542a419d6 "
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 ssh-rsa "
    "AAAAB3NzaC1yc2EAAAADAQABAAABgQDJx0tq/x8K9+f 550e8400-e29b-41d4-a716-446655440000",
    "dump": "00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............\n"
    "10110010 00001111 11110000 00110011 10101010 11001100 01010101 11111111",
    "paths": "/usr/share/doc/python/html/library/functions.html and the_quick_brown_fox_variable "
    "https://example.org/a/b?q=c%20d&e=%2F",
    "table": "| a | b | c |\n|---|---|---|\n| 1 | 0 | 1 |\n0 1 0 1 1 0 1 0\n1, 2, 3, 4, 5, 6, 7, 8",
    "white space": "  one\t two\r\n\r\n three\u00a0four \n",
    "short words": "Os dados em que a era foi lida; si e mi; od jutra do nocy; ton nom; os sinais",
    "decomposed": "Die U\u0308bertragung, re\u0301seau, An\u0303o, क\u093c",
    "empty": "",
}
"""Texts that read in the view exactly as they are."""

READ_OTHERWISE = {
    "letters": "The variables are a b c d e f g h i j.",
    "bases": "A C G T T G C A A C G T",
    "base64": "Encoded it is aGVsbG8gd29ybGQgYW5kIGV2ZXJ5b25l as expected.",
    "bytes": "48 65 6c 6c 6f 20 77 6f 72 6c 64 spells it.",
    "soft hyphens": "Die Über\u00adtra\u00adgung ist zu\u00adver\u00adläs\u00adsig.",
    "marks": "\ufeffשלום\u200f (TCP)\u200e ו-UDP",
    "full width": "ＨＴＴＰは状態を持たない。",
    "function": "𝑐𝑜𝑠ℎ(𝑥) and 𝐭𝐡𝐞𝐨𝐫𝐞𝐦",
    "typing slip": "cкорость передачи",
    "url": "https://example.org/?q=a%20b%20c%20d",
}
"""Honest texts that look like a disguise: the view differs, and nothing is lost by that."""
