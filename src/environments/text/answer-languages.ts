/** How one language states answers. White space in patterns is bounded, so that matching takes linear time. */
export interface AnswerLanguage {
  /** The text before an answer; with the group `not` if it is denied. */
  readonly statement: RegExp;
  /** The text before a statement that only supposes, reports or denies an answer. */
  readonly supposed: RegExp;
  /** The text before the right answer, after a denied one. */
  readonly instead: RegExp;
  /** Words that make an answer vague or firm, without changing it. */
  readonly hedge: RegExp;
  /** Explanations after an answer. */
  readonly tail: RegExp;
  /** Phrases in place of an answer. */
  readonly noAnswer: RegExp;
  /** Whether `3,5` means three and a half, and `1.250` more than a thousand. */
  readonly decimalComma: boolean;
}

const label = (words: string) =>
  String.raw`(?:^|\n|(?<=[.!?。]\s))[ \t>*_#✅=-]{0,12}(?:${words})[*_]{0,3}` +
  String.raw`(?:\s\([^()\n]{1,40}\))?(?:[ \t\u00a0\u202f]{0,3}(?:[:=：→]|[=-]>|[-–—](?=\s))|[ \t]{0,9}\n)[*_]{0,3}`;
const pattern = (...parts: readonly string[]) => new RegExp(parts.join('|'), 'giu');
const s = String.raw`\s{1,3}`;

const english: AnswerLanguage = {
  statement: pattern(
    // "The answer is", "the correct option to this question is:", "our final answer would be", "the final result equals"
    String.raw`\b(?:(?:the|my|our|this|final|correct|right|best)${s})(?:(?:final|correct|corrected|right|best|numerical|actual)${s})?` +
      String.raw`(?:answer\b|(?<=(?:correct|right|best|final|my|our)\s{1,3})(?:option|choice)\b|(?<=final\s{1,3})result\b|solutions?\b(?=${s}(?:is|are)\b))` +
      String.raw`(?<about>,?${s}(?:(?:that${s})?(?:we|you)(?:['’]re|${s}are)?|to|of|for|in|that|here|then|therefore|thus|hence|now|also)\b[^.:?!\n]{0,80}?)?` +
      `(?:['’]s(?=\\s)|,?${s}(?:is|are|equals|will${s}be|would${s}be|must${s}be|should${s}be|comes${s}(?:out${s})?to(?:${s}be)?|turns${s}out${s}to${s}be))` +
      String.raw`(?:(?<not>n['’]t\b|${s}not\b)|(?:\s{0,3}:|\b(?!['’])))`,
    label(
      '(?:(?:so|thus|hence|therefore),? )?(?:the |my |our )?(?:(?:final|correct|corrected) )?answer|ans|correction|final result',
    ),
    String.raw`\b(?:the|a|our|my)${s}final${s}answer${s}of\b`,
    // After such a label other text may follow, so it must be at the beginning.
    '^(?:result|solution):',
    String.raw`(?:^|\n)ans\.(?=${s}\d)`,
    String.raw`\bI(?:${s}(?:would|will)|['’](?:d|ll))?${s}(?:choose|pick|select|go${s}(?:with|for)|opt${s}for)${s}(?:option${s})?(?=\(?[A-J]\)?(?:[.,\n]|${s}(?:over|because|since|as)\b|$))`,
  ),
  supposed:
    /\b(?:if|whether|unless|at first (?:glance|sight)|suppose|supposing|assume|assumed?|assuming|until|check|verify|confirm|guess(?:ed)?|thought|believed|claimed|(?:not|\w{2,6}n['’]t|may|might|could|would|first|initially|wrong to|mistake is to|incorrect to|tempting to|tempted to)\s{1,3}(?:think|say|believe|claim|conclude|assume|argue|sure|guess)|(?<!\b(?:I|we)\s)(?:says?|said|claims?|thinks?|believes?|argues?))(?:\s{1,3}that)?\s{0,3}$/i,
  instead: /(?:\bbut(?:\s{1,3}rather)?|\brather|\binstead|\bit(?:\s{1,3}is|['’]s)|:)\s{1,3}/gi,
  hedge:
    /^(?:(?:therefore|thus|then|hence|indeed|simply|just|exactly|precisely|probably|most likely|likely|approximately|approx\.?|about|around|roughly|equal to|clearly|definitely|certainly|only|in fact|it is|it['’]s)\b[.,:]?\s{1,3}(?!half\b)|a total of\s{1,3}(?=\S*\d)|(?:simple|clear|easy|obvious|straightforward|as follows)\s{0,3}[:—–]\s{0,3}|(?:≈|≃|~|\\approx(?![a-z])|\\sim(?![a-z])|=)\s{0,3})/i,
  tail: /,?\s{1,3}(?:because|since|which|so|but|where|when|rounded|not|over|rather than|instead of|although|though|as\s{1,3}(?:we|the|it|shown|above|required|expected|desired|calculated|stated|computed)|and\s{1,3}(?:we|it|so|this|not))\b|\s{1,3}or so\b|\s{1,3}(?:(?:square|cubic)\s)?units?(?=\s{0,3}(?:[.,;)]|$))|\s{0,3}\((?:since|because|as|i\.e\.|e\.g\.|that is|see|rounded|not|where|from)\b/i,
  noAnswer:
    /^(?:not|n't|no longer|never|found|obtained|given|computed|calculated|determined|derived|known|unknown|unlikely|twice|thrice|half|double|triple|depend|unclear|undefined|still|yet|to|in|by|what|how|whether|going|easy|there is no|worth|as follows|as|either|neither|both|between|more than|less than|greater|larger|smaller|fewer|at least|at most|up to|over|under|above|below|close to|positive|negative|even|odd|always|correct|incorrect|right|wrong|clear|obvious|obviously|is|are|an? (?:whole |positive |negative |real |natural |round |\d-digit |two-digit )?(?:number|integer|fraction|multiple|percentage|value|decimal)|the (?:sum|product|difference|quotient|number|result|value|total|same|one|following|answer) ?(?:of|we|as|that|is)?|answer|see|same|tbd|tba|pending|any|all|every|I (?:do|don|am|can|could|would|have)|we (?:can|need|have|must|do)|cannot|can['’]t|impossible to|unable)(?![\p{L}\p{N}])/iu,
  decimalComma: false,
};

const german: AnswerLanguage = {
  statement: pattern(
    String.raw`\b(?:die|meine|unsere)${s}(?:(?:endgültige|richtige|korrekte|finale|gesuchte)${s})?(?:antwort|lösung)(?<about>${s}(?:auf|zu|für|der)\b[^.:?!\n]{0,80}?)?` +
      String.raw`${s}(?:ist|lautet|beträgt)(?:${s}(?:also|somit|daher))?(?:(?<not>${s}nicht\b)|(?:\s{0,3}:|\b))`,
    String.raw`\b(?:also|somit|daher|folglich|damit|deshalb)${s}(?:ist|lautet|beträgt)${s}(?:die|unsere)${s}(?:(?:endgültige|richtige|korrekte|finale)${s})?antwort(?:\s{0,3}:|\b)`,
    label('(?:(?:die )?(?:endgültige|richtige|finale|korrekte) )?antwort|endergebnis'),
    '^(?:ergebnis|lösung):',
  ),
  supposed:
    /(?:^|[\s,])(?:wenn|falls|ob|angenommen|sofern|(?:nicht|denke|dachte|sagen|meinen),?\s{1,3}dass)\s{0,3},?\s{0,3}$/i,
  instead: /\bsondern\s{1,3}|\bes\s{1,3}ist\s{1,3}/gi,
  hedge:
    /^(?:ungefähr|etwa|circa|ca\.|rund|genau|also|somit|daher|wahrscheinlich|vermutlich|einfach)\s{1,3}/i,
  tail: /,?\s{1,3}(?:weil|da|denn|sodass|also|nicht|und\s{1,3}nicht|wie|was)(?!\p{L})|\s{0,3}\((?:da|denn|weil|also|nicht)(?!\p{L})/iu,
  noAnswer:
    /^(?:nicht|kein|unbekannt|zu|in|mehr als|weniger als|größer|kleiner|mindestens|höchstens|zwischen|entweder|eine? (?:\p{L}{1,20} )?(?:zahl|wert)|die (?:summe|differenz|anzahl|zahl)|das (?:produkt|ergebnis)|der (?:wert|quotient)|dass|ob|wie|was|ist|ich|wir|durch|gegeben|falsch|richtig)(?!\p{L})/iu,
  decimalComma: true,
};

const french: AnswerLanguage = {
  statement: pattern(
    String.raw`(?<!\p{L})(?:la|notre|ma)${s}(?:(?:bonne|vraie)${s})?(?:réponse|solution)(?:${s}(?:finale|correcte|exacte))?(?<about>${s}(?:à|au|de|du|pour)\s[^.:?!\n]{0,80}?)?` +
      String.raw`${s}(?:est|serait|vaut|(?<not>n['’]est${s}pas))(?:${s}donc)?(?:\s{0,3}:|(?!\p{L}))`,
    label('(?:(?:la )?(?:bonne )?)réponse(?: (?:finale|correcte))?|résultat final'),
    String.raw`^(?:résultat)\s{0,3}:`,
  ),
  supposed:
    /(?:^|[\s,])(?:si|suppos(?:ons|ez) que|vérif(?:ions|iez) (?:si|que)|(?:dire|penser|croire|pas) que)\s{0,3}$/i,
  instead: /\bmais\s{1,3}|\bc['’]est\s{1,3}/gi,
  hedge:
    /^(?:la(?=\s[A-J](?!\p{L}))|(?:d['’])?environ|approximativement|à peu près|exactement|donc|probablement|simplement|égale? à)\s{1,3}/iu,
  tail: /,?\s{1,3}(?:car|parce|puisque|donc|ce\s{1,3}qui|et\s{1,3}non|pas|comme|mais)(?!\p{L})|\s{0,3}\((?:car|puisque|parce|et non|pas)(?!\p{L})/iu,
  noAnswer:
    /^(?:pas|inconnue?|à|dans|en|par|plus (?:de|que|grande?)|moins (?:de|que)|supérieure?|inférieure?|au (?:moins|plus)|entre|soit|un (?:nombre|entier)|une? (?:fraction|valeur)|la (?:somme|différence|valeur)|le (?:produit|nombre|quotient|résultat)|que|si|comment|est|je|nous|on|donnée?|obtenue?|fausse|correcte)(?!\p{L})/iu,
  decimalComma: true,
};

const chinese: AnswerLanguage = {
  statement: pattern(
    String.raw`(?:(?:最终|正确|最后)的?)?(?:答案|最终结果)(?:应该|应当|就|大约|大概|约)?(?:(?<not>不是|不为)|(?:是|为|等于)\s{0,3}[:：]?|\s{0,3}[:：])[ *_]{0,4}`,
    String.raw`(?:所以|因此|故|应|我)选(?:择)?\s{0,3}[:：]?\s{0,3}(?=\(?[A-J])`,
  ),
  supposed: /(?:如果|假设|假如|若|是否|要是|以为|认为|检查|验证|当|不能说)[\s，,]{0,3}$/,
  instead: /而是|应该是|应为|，是/g,
  hedge: /^(?:大约|大概|约|约为|约等于|正好|恰好|应该)(?:是|为)?\s{0,3}/,
  tail: /[，,]?\s{0,3}(?:因为|所以|因此|由于|而不是|而非|不是|如上)|[（(](?:因为|由于|即)/,
  noAnswer:
    /^(?:不|没|无法|未知|什么|多少|几|大于|小于|超过|至少|至多|介于|通过|由|将|要|求|在|一个|错|对的|正确的?$)/,
  decimalComma: false,
};

export const languages: readonly AnswerLanguage[] = [english, german, french, chinese];
