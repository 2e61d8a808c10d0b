/**
 * Words by which a form asks for a secret. The specification allows secrets only on a page of the server, never in a form. A word
 * of fewer than seven Latin letters has to stand alone. A word that ends in `*` has to begin a word. Any other may be part of a
 * longer word. Accents and case do not count, and a space stands for any separator or none.
 */
const list = (text: string): readonly string[] => text.split('|').map((word) => word.trim());

/** The words by language (ISO 639). */
export const SECRET_WORDS: Readonly<Record<string, readonly string[]>> = {
  en: list(
    `password|pass word|passwd*|pwd|psw|pass phrase|pass code|pass key|secret|secrets|credential|api key|access key|private key|
    secret key|signing key|encryption key|recovery key|auth token|access token|refresh token|bearer|token|session cookie|otp|totp|
    one time code|verification code|security code|login code|sign in code|2fa|mfa|pin|pin code|pincode|cvv|cvv2|cvc|cvc2|card number|
    credit card|debit card|iban|ssn|social security|seed phrase|recovery phrase|recovery code|backup code|mnemonic`,
  ),
  de: list(
    `passwort|kennwort|losungswort|zugangscode|zugangsdaten|anmeldedaten|geheimzahl|geheimnis|geheimer schlüssel|
    privater schlüssel|api schlüssel|zugriffsschlüssel|kartennummer|kreditkarte|prüfziffer|sicherheitscode|bestätigungscode|
    einmalcode|wiederherstellungs|tan`,
  ),
  fr: list(
    `mot de passe|mdp|phrase secrète|phrase de passe|code secret|code d'accès|clé privée|clé secrète|clé api|clé d'api|jeton|
    identifiants de connexion|carte bancaire|numéro de carte|carte de crédit|cryptogramme|code de sécurité|code de vérification|
    code à usage unique|phrase de récupération|code de récupération`,
  ),
  es: list(
    `contraseña|clave|código secreto|código de acceso|código de verificación|código de seguridad|frase semilla|
    frase de recuperación|tarjeta de crédito|número de tarjeta|número de la tarjeta|credenciales|secreto|llave privada`,
  ),
  pt: list(
    `senha|palavra passe|código secreto|chave privada|chave secreta|chave de api|chave de acesso|cartão de crédito|
    número do cartão|código de verificação|código de segurança|frase de recuperação|credenciais|segredo`,
  ),
  it: list(
    `parola d'ordine|parola d'accesso|codice segreto|codice di verifica|codice di sicurezza|chiave privata|chiave segreta|
    chiave api|carta di credito|numero di carta|numero della carta|frase di recupero|credenziali|segreto`,
  ),
  nl: list(
    `wachtwoord|wachtzin|geheime sleutel|privésleutel|toegangscode|beveiligingscode|verificatiecode|kaartnummer|herstelzin|
    inloggegevens`,
  ),
  sv: list(
    'lösenord|lösenfras|pinkod|engångskod|säkerhetskod|verifieringskod|hemlig nyckel|privat nyckel|kortnummer|kreditkort|återställningsfras',
  ),
  da: list('adgangskode|kodeord|engangskode|sikkerhedskode|hemmelig nøgle|privat nøgle|kortnummer|gendannelses'),
  no: list('passord|pinkode|sikkerhetskode|hemmelig nøkkel|privat nøkkel|kredittkort|gjenopprettings'),
  fi: list(
    'salasana|tunnussana|pin koodi|turvakoodi|kertakäyttökoodi|vahvistuskoodi|yksityinen avain|salainen avain|luottokort|kortin numero|palautuslause',
  ),
  is: list('lykilorð|aðgangsorð'),
  pl: list(
    'hasło|hasła|hasłem|kod dostępu|klucz prywatny|klucza prywatnego|tajny klucz|klucz api|karty kredytowej|karta kredytowa|numer karty|kod bezpieczeństwa|kod weryfikacyjny|fraza odzyskiwania',
  ),
  cs: list(
    'heslo|hesla|heslem|přístupový kód|soukromý klíč|tajný klíč|číslo karty|bezpečnostní kód|ověřovací kód|kreditní kart',
  ),
  sk: list('prístupový kód|súkromný kľúč|tajný kľúč|bezpečnostný kód|overovací kód|kreditn kart'),
  hu: list('jelszó*|jelszav*|titkos kulcs|privát kulcs|kártyaszám|bankkártya|biztonsági kód|ellenőrző kód'),
  ro: list(
    'parolă|parola|parolei|cheie privată|cheia privată|cheie secretă|număr de card|numărul cardului|cod de securitate|cod de verificare',
  ),
  hr: list('lozink*|zapork*|šifra|šifru|privatni ključ|tajni ključ|broj kartice|sigurnosni kod|kreditn kartic'),
  sl: list('geslo|gesla|zasebni ključ|skrivni ključ|številka kartice|varnostna koda'),
  sr: list('лозинк|шифра|приватни кључ|тајни кључ|број картице'),
  bg: list('парола|частен ключ|таен ключ|номер на карта|код за сигурност'),
  ru: list(
    'парол|секрет|закрытый ключ|приватный ключ|ключ доступа|апи ключ|пин код|пинкод|код доступа|код подтверждения|код из смс|номер карт|кредитной карт|кодовое слово|мнемоник|сид фраз|фраза восстановления|токен',
  ),
  uk: list('приватний ключ|номер картки|код підтвердження|код доступу|кредитної картк'),
  be: list('прыватны ключ|сакрэтны ключ'),
  el: list('κωδικό|συνθηματικ|ιδιωτικό κλειδί|μυστικό κλειδί|αριθμός κάρτας|πιστωτικ'),
  tr: list('parola|şifre*|gizli anahtar|özel anahtar|kart numarası|kredi kartı|güvenlik kodu|doğrulama kodu|kurtarma'),
  az: list('şifrə*|parol|parolu'),
  kk: list('құпия сөз|құпиясөз'),
  mn: list('нууц үг'),
  et: list('parool*|salasõna|privaatvõti'),
  lv: list('parole|paroli|privātā atslēga'),
  lt: list('slaptažod*|privatus raktas'),
  sq: list('fjalëkalim'),
  eu: list('pasahitz'),
  ca: list('contrasenya|clau privada|clau secreta'),
  gl: list('contrasinal'),
  ga: list('focal faire|pasfhocal'),
  cy: list('cyfrinair'),
  af: list('wagwoord'),
  sw: list('nenosiri|neno la siri'),
  zu: list('iphasiwedi'),
  eo: list('pasvorto'),
  id: list('kata sandi|sandi|kunci rahasia|kunci pribadi|kode verifikasi'),
  ms: list('kata laluan|kunci peribadi'),
  vi: list('mật khẩu|mã pin|mã xác minh|mã otp|khóa bí mật|khoá riêng'),
  ka: list('პაროლ'),
  hy: list('գաղտնաբառ'),
  he: list('סיסמה|סיסמא|ססמה|ססמא|סיסמת|קוד סודי|מפתח פרטי|מספר כרטיס|כרטיס אשראי|קוד אימות'),
  ar: list(
    'كلمة المرور|كلمة مرور|كلمة السر|كلمة سر|الرقم السري|رمز التحقق|رمز الدخول|المفتاح الخاص|مفتاح سري|بطاقة الائتمان|رقم البطاقة',
  ),
  fa: list('رمز عبور|گذرواژه|کلمه عبور|کلید خصوصی|شماره کارت'),
  ur: list('پاس ورڈ'),
  hi: list('पासवर्ड|कूटशब्द|निजी कुंजी|गुप्त|पिन'),
  bn: list('পাসওয়ার্ড'),
  gu: list('પાસવર્ડ'),
  pa: list('ਪਾਸਵਰਡ'),
  ta: list('கடவுச்சொல்'),
  te: list('పాస్వర్డ్'),
  kn: list('ಪಾಸ್ವರ್ಡ್'),
  ml: list('പാസ്വേഡ്|രഹസ്യവാക്ക്'),
  si: list('මුරපදය'),
  th: list('รหัสผ่าน|รหัสลับ|รหัส'),
  lo: list('ລະຫັດຜ່ານ'),
  km: list('ពាក្យសម្ងាត់'),
  my: list('စကားဝှက်'),
  am: list('የይለፍ ቃል'),
  zh: list('密码|密碼|口令|私钥|私鑰|密钥|密鑰|助记词|助記詞|验证码|驗證碼|信用卡|卡号|卡號|银行卡|令牌'),
  ja: list(
    'パスワード|ぱすわーど|暗証番号|合言葉|パスフレーズ|パスコード|秘密鍵|シークレット|トークン|api キー|カード番号|クレジットカード|セキュリティコード|認証コード|確認コード|リカバリーフレーズ',
  ),
  ko: list(
    '비밀번호|암호|패스워드|개인 키|비밀 키|인증번호|인증 코드|카드 번호|신용카드|보안 코드|시드 문구|니모닉|토큰',
  ),
};
